/* The face of term/: Erlang's data types. Begin with word.h. */
#ifndef TH_TERM_H
#define TH_TERM_H

#include "atom.h"
#include "clock.h"
#include "compare.h"
#include "copy.h"
#include "env.h"
#include "etf.h"
#include "etf_tags.h"
#include "iodata.h"
#include "json.h"
#include "make.h"
#include "map.h"
#include "number.h"
#include "size.h"
#include "text.h"
#include "text_beam.h"
#include "text_segment.h"
#include "text_token.h"
#include "utf8.h"
#include "word.h"

#endif
