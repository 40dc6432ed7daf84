/* The face of replay/: recorded streams, read, written and played. */
#ifndef TH_REPLAY_H
#define TH_REPLAY_H

#include "player.h"
#include "reader.h"
#include "writer.h"

#endif
