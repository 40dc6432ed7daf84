/* Returns whether a tracer dies at the time of the present record, which is one of about EVERY times by a
 * hash with SEED. 0: never. */
static int is_time_of_death(unsigned long every, unsigned long seed)
{
    unsigned long time = (unsigned long)enif_monotonic_time(ERL_NIF_NSEC) + seed;

    time = (time ^ time >> 30) * 0xBF58476D1CE4E5B9;
    time = (time ^ time >> 27) * 0x94D049BB133111EB;
    return every && (time ^ time >> 31) % every == 0;
}
