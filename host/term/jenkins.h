/*
 * Bob Jenkins' hash of 1996: three words that are mixed with each other.
 * Source: "Hash functions", Dr. Dobb's Journal, September 1997.
 */
#ifndef TH_JENKINS_H
#define TH_JENKINS_H

#include <stddef.h>
#include <stdint.h>

struct th_jenkins {
    uint32_t a, b, c; /* c is the result */
};

static inline void th_jenkins_round(struct th_jenkins *w, int first, int second, int third)
{
    w->a = (w->a - w->b - w->c) ^ w->c >> first;
    w->b = (w->b - w->c - w->a) ^ w->a << second;
    w->c = (w->c - w->a - w->b) ^ w->b >> third;
}

static inline void th_jenkins_mix(struct th_jenkins *w)
{
    th_jenkins_round(w, 13, 8, 13);
    th_jenkins_round(w, 12, 16, 5);
    th_jenkins_round(w, 3, 10, 15);
}

/* The hash of bytes, twelve of which are mixed in at a time. AB and C are what the words start
 * with. */
uint32_t th_jenkins_bytes(const unsigned char *bytes, size_t count, uint32_t ab, uint32_t c);

#endif
