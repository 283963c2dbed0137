// SPDX-License-Identifier: MIT
// A thread that asks the server, so that keys respond while it is slow or gone: it takes a look
// every so often, and carries out orders in between.
#ifndef SLUICE_CLI_TOP_ASKER_H
#define SLUICE_CLI_TOP_ASKER_H

#include "cli/top/look.h"
#include "cli/top/order.h"
#include "cli/top/view.h"

struct asker;

struct asker_news {
    struct look *look;        // now the caller's; NULL: no new one
    char note[TOP_TEXT_SIZE]; // what became of an order; "": none
    bool note_good;
    double asking; // when it began to ask what it asks now, by steady_now; 0: it waits
};

// Starts it; `wake` is called, from that thread, when there is news. The queue must live as long.
struct asker *asker_new(struct sluice *queue, const struct look_wish *wish, double interval,
                        void (*wake)(void));
// Ends what it is asking, and the thread.
void asker_free(struct asker *asker);

// What is in sight now; with `now` it is looked at once.
void asker_wish(struct asker *asker, const struct look_wish *wish, double interval, bool now);
// False: there are too many already.
bool asker_order(struct asker *asker, const struct order *order);
void asker_news(struct asker *asker, struct asker_news *news);

#endif
