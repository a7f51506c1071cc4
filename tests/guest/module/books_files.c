// SPDX-License-Identifier: GPL-2.0
/* debugfs: pebs_machine/books, totals, reset. JSON, one object a line; figures that are 0 throughout are left
 * out. */
#include "core.h"

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#include "ibs_pmu.h"
#include "init_event.h"
#include "parameters.h"
#include "places.h"
#include "pmu.h"

#define WORD_(name, word) word,
static const char *const source_words[] = {SOURCES(WORD_)};
static const char *const snoop_words[] = {SNOOPS(WORD_)};
static const char *const tlb_words[] = {TLBS(WORD_)};
#undef WORD_

static struct dentry *directory;

static void put_text(struct seq_file *file, const char *text)
{
	seq_putc(file, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\' || (u8)*text < 0x20 || (u8)*text >= 0x7f)
			seq_printf(file, "\\u%04x", (u8)*text);
		else
			seq_putc(file, *text);
	}
	seq_putc(file, '"');
}

static void put_counts(struct seq_file *file, const char *name, const char *const *words, const u64 *counts,
		       size_t n)
{
	const char *separator = "";

	seq_printf(file, ",\"%s\":{", name);
	for (size_t i = 0; i < n; i++) {
		if (!counts[i])
			continue;
		seq_printf(file, "%s\"%s\":%llu", separator, words[i], counts[i]);
		separator = ",";
	}
	seq_putc(file, '}');
}

static const char *pmu_name(int cpu)
{
	return ibs_pmu_machine() ? "ibs_op" : pmu_of_cpu(cpu)->name;
}

static const char *event_prefix(u32 event)
{
	return event & BOOKS_OF_CGROUP ? "cgroup:" : "";
}

static void put_book(struct seq_file *file, int cpu, const struct book *book)
{
	const struct book_sums *sums = &book->overflow;

	seq_printf(file,
		   "{\"cpu\":%d,\"pmu\":\"%s\",\"event\":\"%s0x%x\",\"cgroup\":%llu,\"pid\":%u,\"comm\":",
		   cpu, pmu_name(cpu), event_prefix(book->key.event), book->key.event & 0xffff,
		   book->key.cgroup, book->key.pid);
	put_text(file, book->key.comm);
	seq_printf(file, ",\"samples\":%llu,\"period\":%llu,\"latency\":%llu,\"latency_true\":%llu",
		   sums->samples, sums->period, sums->latency, sums->latency_true);
	seq_printf(file, ",\"instruction_latency\":%llu,\"locked\":%llu,\"blocked\":%llu,\"guarded\":%llu",
		   sums->instruction_latency, sums->locked, sums->blocked, sums->guarded);
	put_counts(file, "sources", source_words, sums->source_samples, ARRAY_SIZE(source_words));
	put_counts(file, "source_latency", source_words, sums->source_latency, ARRAY_SIZE(source_words));
	put_counts(file, "snoops", snoop_words, sums->snoop, ARRAY_SIZE(snoop_words));
	put_counts(file, "tlbs", tlb_words, sums->tlb, ARRAY_SIZE(tlb_words));
	seq_printf(file, ",\"ring\":{\"samples\":%llu,\"latency\":%llu}}\n", book->ring_samples,
		   book->ring_latency);
}

static int books_file_show(struct seq_file *file, void *unused)
{
	int cpu;

	for_each_possible_cpu(cpu)
	{
		const struct core_books *books = &per_cpu(cores, cpu)->books;

		for (unsigned int i = 0; i < books_size(); i++)
			if (smp_load_acquire(&books->books[i].used))
				put_book(file, cpu, &books->books[i]);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(books_file);

static void put_event(struct seq_file *file, const struct book_event *event)
{
	u64 throttled_ns = event->throttled_ns;
	u64 since = READ_ONCE(event->throttled_since);

	if (since)
		throttled_ns += ktime_get_mono_fast_ns() - since;
	seq_printf(file, "\"%s0x%x\":{\"overflow\":%llu,\"ring\":%llu,\"collisions\":%llu,\"cut\":%llu",
		   event_prefix(event->event), event->event & 0xffff, event->overflow, event->ring,
		   event->collisions, event->cut);
	seq_printf(file, ",\"throttles\":%llu,\"throttled_ns\":%llu,\"throttle_slack_ns\":%llu}",
		   event->throttles, throttled_ns, event->throttle_slack_ns);
}

static void put_totals(struct seq_file *file, int cpu, const struct core *core)
{
	const struct core_books *books = &core->books;
	const char *separator = "";

	seq_printf(file, "{\"cpu\":%d,\"pmu\":\"%s\",\"records\":%llu,\"not_written\":%llu", cpu,
		   pmu_name(cpu), core->unit.records, core->unit.not_written);
	seq_printf(
		file,
		",\"interrupts\":%llu,\"deferred\":%llu,\"drains\":%llu,\"handler_ns\":%llu,\"tick_ns\":%llu",
		books->interrupts, books->deferred, books->drains, core->handler_ns, core->tick_ns);
	seq_printf(file,
		   ",\"stopped\":%llu,\"early\":%llu,\"unclaimed\":%llu,\"broken\":%llu,\"starved\":%llu",
		   books->stopped, books->early, books->unclaimed, books->broken, books->starved);
	if (core->ibs.machine)
		seq_printf(file, ",\"ibs\":{\"samples\":%llu,\"filtered\":%llu,\"discarded\":%llu}",
			   core->ibs.unit.samples, core->ibs.unit.filtered, core->ibs.discarded);
	seq_printf(file, ",\"full\":%llu,\"events_full\":%llu,\"events\":{", books->full, books->events_full);
	for (int i = 0; i < BOOKS_EVENTS; i++) {
		if (!smp_load_acquire(&books->events[i].used))
			continue;
		seq_puts(file, separator);
		put_event(file, &books->events[i]);
		separator = ",";
	}
	seq_puts(file, "}}\n");
}

static int totals_show(struct seq_file *file, void *unused)
{
	int cpu;

	for_each_possible_cpu(cpu) put_totals(file, cpu, per_cpu(cores, cpu));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(totals);

static void reset_core(struct core *core)
{
	core->unit.records = 0;
	core->unit.not_written = 0;
	core->ibs.unit.samples = 0;
	core->ibs.unit.filtered = 0;
	core->ibs.discarded = 0;
	core->handler_ns = 0;
	core->tick_ns = 0;
	books_reset(&core->books);
	touched_reset(&core->touched);
}

static void reset_here(void *unused)
{
	reset_core(this_core());
}

static ssize_t reset_write(struct file *file, const char __user *text, size_t size, loff_t *offset)
{
	int cpu;

	cpus_read_lock();
	on_each_cpu(reset_here, NULL, 1);
	for_each_possible_cpu(cpu) if (!cpu_online(cpu)) reset_core(per_cpu(cores, cpu));
	cpus_read_unlock();
	return (ssize_t)size;
}

static const struct file_operations reset_fops = {.owner = THIS_MODULE, .write = reset_write};

int books_files_open(void)
{
	directory = debugfs_create_dir("pebs_machine", NULL);
	if (IS_ERR(directory)) {
		pr_err("pebs_machine: cannot make its directory in debugfs: error %ld\n", PTR_ERR(directory));
		return (int)PTR_ERR(directory);
	}
	debugfs_create_file("books", 0444, directory, NULL, &books_file_fops);
	debugfs_create_file("totals", 0444, directory, NULL, &totals_fops);
	debugfs_create_file("reset", 0200, directory, NULL, &reset_fops);
	counted_file_open(directory);
	places_file_open(directory);
	touched_file_open(directory);
	init_event_file_open(directory);
	return 0;
}

void books_files_close(void)
{
	debugfs_remove_recursive(directory);
}
