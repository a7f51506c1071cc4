// SPDX-License-Identifier: GPL-2.0
/*
 * The keeper: the process that has the history on disk, `pebsd --keeper`. pebsd starts it with a socket as
 * standard input (history_wire.h), and with the directory in the environment. It stores panes and alerts and
 * answers questions, one message after the other. It ends after HISTORY_STOP, or when pebsd has closed the
 * socket or has ended, after it has stored everything that it received. It ends with an error if a message
 * has a wrong form.
 */
#ifndef PEBSD_HISTORY_KEEPER_H
#define PEBSD_HISTORY_KEEPER_H

/* The environment variable with the directory: an absolute path. */
#define KEEPER_DIRECTORY "PEBSD_HISTORY_DIRECTORY"

/* Returns the exit code. */
int keeper_worker(int channel);

/*
 * Serves the socket with an archive, without giving up privileges. Returns 0 at the end of messages, or
 * -errno. -EBADMSG: a message has a wrong form.
 */
struct archive;
int keeper_serve(int channel, struct archive *archive);

#endif
