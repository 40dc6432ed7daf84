#include "jenkins.h"

/* COUNT bytes, 0 to 4, as a little-endian word. */
static uint32_t word_of(const unsigned char *bytes, size_t count)
{
    uint32_t word = 0;

    for (size_t i = 0; i < count; i++)
        word |= (uint32_t)bytes[i] << 8 * i;
    return word;
}

/* In what remains after the last twelve, the third word leaves its lowest byte to the length. */
uint32_t th_jenkins_bytes(const unsigned char *bytes, size_t count, uint32_t ab, uint32_t c)
{
    struct th_jenkins words = {ab, ab, c};
    size_t rest = count;

    for (; rest >= 12; rest -= 12, bytes += 12) {
        words.a += word_of(bytes, 4);
        words.b += word_of(bytes + 4, 4);
        words.c += word_of(bytes + 8, 4);
        th_jenkins_mix(&words);
    }
    words.a += word_of(bytes, rest < 4 ? rest : 4);
    words.b += rest > 4 ? word_of(bytes + 4, rest < 8 ? rest - 4 : 4) : 0;
    words.c += (rest > 8 ? word_of(bytes + 8, rest - 8) << 8 : 0) + (uint32_t)count;
    th_jenkins_mix(&words);
    return words.c;
}
