// SPDX-License-Identifier: GPL-2.0
/* Data source encodings: manual 18.8.1.2 and 18.9.4, and pebs_data_source of the Linux driver. */
#include <criterion/criterion.h>

#include "model/load_source.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct machine goldmont = {.encoding = ENCODING_NONE};
static const struct machine nehalem = {.encoding = ENCODING_NEHALEM};
static const struct machine sandy_bridge = {
	.encoding = ENCODING_SANDY_BRIDGE, .mechanisms = MECHANISM_PRECISE_STORE, .store_event = 0x2cd};
static const struct machine haswell = {.encoding = ENCODING_SANDY_BRIDGE, .store_event = 0x82d0};
static const struct machine skylake = {.encoding = ENCODING_SKYLAKE, .store_event = 0x82d0};
static const struct machine skylake_server = {.encoding = ENCODING_SKYLAKE_SERVER, .store_event = 0x82d0};
static const struct machine ice_lake = {.encoding = ENCODING_ICE_LAKE, .store_event = 0x82d0};
static const struct machine sapphire_rapids = {
	.encoding = ENCODING_GOLDEN_COVE, .mechanisms = MECHANISM_STORE_LATENCY, .store_event = 0x2cd};

static const struct machine alder_lake = {
	.encoding = ENCODING_GOLDEN_COVE_CLIENT, .mechanisms = MECHANISM_STORE_LATENCY, .store_event = 0x2cd};
static const struct machine gracemont = {
	.encoding = ENCODING_GRACEMONT, .mechanisms = MECHANISM_STORE_LATENCY, .store_event = 0x6d0};
static const struct machine crestmont = {
	.encoding = ENCODING_CRESTMONT, .mechanisms = MECHANISM_STORE_LATENCY, .store_event = 0x6d0};

static const struct machine *const all[] = {&goldmont,   &nehalem,        &sandy_bridge, &haswell,
					    &skylake,    &skylake_server, &ice_lake,     &sapphire_rapids,
					    &alder_lake, &gracemont,      &crestmont};
/* The machines with the codes of E-cores come last. */
#define P_CORES (COUNT(all) - 2)

/* Compares pebsd's decoding of the driver's value with the tables of the manual. */
static void expect_same(u64 value, const struct load_source *words, u64 encoded, size_t machine)
{
	cr_expect_eq(data_source_source(value), words->source, "%zu: %#llx", machine,
		     (unsigned long long)encoded);
	cr_expect_eq(data_source_snoop(value), words->snoop, "%zu: %#llx", machine,
		     (unsigned long long)encoded);
	cr_expect_eq(data_source_tlb(value), words->tlb, "%zu: %#llx", machine, (unsigned long long)encoded);
#define SAME_FLAG(name)                                                                     \
	cr_expect_eq(data_source_##name(value), words->name, #name ", %zu: %#llx", machine, \
		     (unsigned long long)encoded);
	LOAD_SOURCE_FLAGS(SAME_FLAG)
}

/* All 256 encodings, each without and with the reserved bits set. */
Test(model_load_source, each_encoding_of_each_generation_reads_alike_through_the_driver_and_the_manual)
{
	for (size_t i = 0; i < COUNT(all); i++)
		for (u64 encoded = 0; encoded < 512; encoded++) {
			u64 hostile = encoded < 256 ? encoded : encoded | 0xffffffffffffff00;
			struct load_source words;

			load_source_decode(all[i], hostile, &words);
			expect_same(load_source_data_src(all[i], hostile), &words, hostile, i);
		}
}

Test(model_load_source, each_store_of_each_generation_reads_alike_through_the_driver_and_the_manual)
{
	for (size_t i = 0; i < COUNT(all); i++)
		for (u64 encoded = 0; encoded < 512; encoded++) {
			u64 hostile = encoded < 256 ? encoded : encoded | 0xffffffffffffff00;
			struct load_source words;

			store_source_decode(all[i], hostile, &words);
			expect_same(store_source_data_src(all[i], hostile), &words, hostile, i);
		}
}

/*
 * Values from real machines, or values that the driver would give on them: that of Linux 6.1, for Crestmont
 * that of 6.12.
 */
Test(model_load_source, the_driver_returns_known_values)
{
	cr_expect_eq(load_source_data_src(&skylake_server, 0x1), 0x10268100142); /* Skylake-SP, recorded */
	cr_expect_eq(load_source_data_src(&skylake_server, 0x2), 0x11868100242);
	cr_expect_eq(load_source_data_src(&skylake_server, 0x8), 0x11c68200042);
	cr_expect_eq(load_source_data_src(&skylake_server, 0xb), 0x13a68100042);
	cr_expect_eq(load_source_data_src(&skylake_server, 0xc), 0x17668000042);
	cr_expect_eq(load_source_data_src(&skylake, 0x8), 0x10868200042);
	cr_expect_eq(load_source_data_src(&sandy_bridge, 0xb), 0x12668202042);
	cr_expect_eq(load_source_data_src(&sandy_bridge, 0x31), 0x10252100142);
	cr_expect_eq(load_source_data_src(&nehalem, 0x31), 0x205100142);
	cr_expect_eq(load_source_data_src(&goldmont, 0x31), 0x1e05080021);
	cr_expect_eq(load_source_data_src(&sapphire_rapids, 0xc1), 0x60268100142);
	cr_expect_eq(load_source_data_src(&ice_lake, 0xc1), 0x10268100142);
	/* Each flag alone: lock, then TLB, then block. */
	cr_expect_eq(load_source_data_src(&gracemont, 0x11), 0x1026a100142);
	cr_expect_eq(load_source_data_src(&gracemont, 0x21), 0x10250100142);
	cr_expect_eq(load_source_data_src(&gracemont, 0x41), 0x20268100142);
	cr_expect_eq(load_source_data_src(&gracemont, 0x81), 0x10268100142);
	cr_expect_eq(load_source_data_src(&crestmont, 0x11), 0x10268100142);
	cr_expect_eq(load_source_data_src(&crestmont, 0x21), 0x1026a100142);
	cr_expect_eq(load_source_data_src(&crestmont, 0x41), 0x10250100142);
	cr_expect_eq(load_source_data_src(&crestmont, 0x81), 0x20268100142);
	cr_expect_eq(store_source_data_src(&gracemont, 0x31), 0x10252100144);
	cr_expect_eq(store_source_data_src(&crestmont, 0x61), 0x10252100144);
}

/* pebs_data_source without any flag, as in the driver of Linux 6.1 and 6.12. */
Test(model_load_source, tables_equal_those_of_the_driver)
{
	static const struct {
		const struct machine *machine;
		u64 values[16];
	} tables[] = {
		{&nehalem,
		 {0x605080082, 0x205100142, 0x1805100242, 0x405100442, 0x605100842, 0x605200842, 0x605800842,
		  0x605800842, 0x2605208042, 0x2605808042, 0x1a05201042, 0x2605202042, 0x1a05501042,
		  0x3a05502042, 0x1e05120042, 0x1e05140042}},
		{&sandy_bridge,
		 {0x10668080082, 0x10268100142, 0x11868100242, 0x10468100442, 0x10668100842, 0x10668400842,
		  0x10668200842, 0x10668800842, 0x12668208042, 0x12668808042, 0x11a68201042, 0x12668202042,
		  0x11a68501042, 0x13a68502042, 0x11e68120042, 0x11e68140042}},
		{&skylake,
		 {0x10668080082, 0x10268100142, 0x11868100242, 0x10468100442, 0x10668100842, 0x10668400842,
		  0x10668200842, 0x10668800842, 0x10868200042, 0x12868200042, 0x11a68201042, 0x13a68100042,
		  0x17668000042, 0x13668800042, 0x11e68120042, 0x11e68140042}},
		{&skylake_server,
		 {0x10668080082, 0x10268100142, 0x11868100242, 0x10468100442, 0x10668100842, 0x10668400842,
		  0x10668200842, 0x10668800842, 0x11c68200042, 0x13c68200042, 0x11a68201042, 0x13a68100042,
		  0x17668000042, 0x13668800042, 0x11e68120042, 0x11e68140042}},
		{&gracemont,
		 {0x10668080082, 0x10268100142, 0x11868100242, 0x10468100442, 0x10668100842, 0x10668200842,
		  0x10668800842, 0x10668800842, 0x14668000842, 0x12668808042, 0x11a68201042, 0x12668202042,
		  0x11a68501042, 0x13a68502042, 0x11e68120042, 0x11e68140042}},
		{&crestmont,
		 {0x10668080082, 0x10268100142, 0x11868100242, 0x10468100442, 0x10668100842, 0x10668400842,
		  0x10668200842, 0x14668000842, 0x10668800842, 0x12668808042, 0x11a68101042, 0x13a68100042,
		  0x17a68000042, 0x13a68800042, 0x11e68120042, 0x11e68140042}},
	};

	for (size_t i = 0; i < COUNT(tables); i++)
		for (u64 code = 0; code < 16; code++)
			cr_expect_eq(load_source_data_src(tables[i].machine, code), tables[i].values[code],
				     "%zu: %#llx", i, (unsigned long long)code);
}

Test(model_load_source, every_value_belongs_to_a_load)
{
	for (size_t i = 1; i < COUNT(all); i++)
		for (u64 encoded = 0; encoded < 256; encoded++)
			cr_expect_eq(load_source_data_src(all[i], encoded) & 0x1f, 0x2);
}

static u64 encode(const struct machine *machine, u8 place, u8 snoop)
{
	struct retired load = {.operation = OPERATION_LOAD, .place = place, .snoop = snoop};

	return load_source_encode(machine, &load);
}

Test(model_load_source, near_places_are_encoded_alike_since_nehalem)
{
	for (size_t i = 1; i < COUNT(all); i++) {
		cr_expect_eq(encode(all[i], PLACE_L1, SNOOPED_NONE), 0x1);
		cr_expect_eq(encode(all[i], PLACE_FILL_BUFFER, SNOOPED_NONE), 0x2);
		cr_expect_eq(encode(all[i], PLACE_L2, SNOOPED_NONE), 0x3);
		cr_expect_eq(encode(all[i], PLACE_L3, SNOOPED_NONE), 0x4);
		cr_expect_eq(encode(all[i], PLACE_IO, SNOOPED_NONE), 0xe);
		cr_expect_eq(encode(all[i], PLACE_UNCACHED, SNOOPED_NONE), 0xf);
		cr_expect_eq(encode(all[i], PLACE_COUNT, SNOOPED_NONE), 0x0);
	}
}

Test(model_load_source, nehalem_encodes_l3_snoops)
{
	cr_expect_eq(encode(&nehalem, PLACE_L3, SNOOPED_MISS), 0x4);
	cr_expect_eq(encode(&nehalem, PLACE_L3, SNOOPED_HIT), 0x5);
	cr_expect_eq(encode(&nehalem, PLACE_L3, SNOOPED_MODIFIED), 0x6);
}

Test(model_load_source, sandy_bridge_and_later_encode_l3_snoops)
{
	for (size_t i = 2; i < P_CORES; i++) {
		cr_expect_eq(encode(all[i], PLACE_L3, SNOOPED_MISS), 0x5);
		cr_expect_eq(encode(all[i], PLACE_L3, SNOOPED_HIT), 0x6);
		cr_expect_eq(encode(all[i], PLACE_L3, SNOOPED_MODIFIED), 0x7);
	}
}

/*
 * Linux 6.12: intel_pmu_pebs_data_source_grt(), _cmt(). Gracemont has no code for a snoop that missed, and
 * none for a clean line of another socket: its code 8 stands for a forwarded line of this socket.
 */
Test(model_load_source, e_cores_have_their_own_codes)
{
	cr_expect_eq(encode(&gracemont, PLACE_L3, SNOOPED_MISS), 0x4);
	cr_expect_eq(encode(&gracemont, PLACE_L3, SNOOPED_HIT), 0x5);
	cr_expect_eq(encode(&gracemont, PLACE_L3, SNOOPED_MODIFIED), 0x6);
	cr_expect_eq(encode(&gracemont, PLACE_REMOTE_CACHE, SNOOPED_HIT), 0x0);
	cr_expect_eq(encode(&gracemont, PLACE_REMOTE_CACHE, SNOOPED_MODIFIED), 0x9);
	cr_expect_eq(encode(&gracemont, PLACE_LOCAL_DRAM, SNOOPED_NONE), 0xc);
	cr_expect_eq(encode(&gracemont, PLACE_REMOTE_DRAM, SNOOPED_HIT), 0xb);
	cr_expect_eq(encode(&crestmont, PLACE_L3, SNOOPED_MISS), 0x5);
	cr_expect_eq(encode(&crestmont, PLACE_L3, SNOOPED_HIT), 0x6);
	cr_expect_eq(encode(&crestmont, PLACE_L3, SNOOPED_MODIFIED), 0x8);
	cr_expect_eq(encode(&crestmont, PLACE_LOCAL_DRAM, SNOOPED_NONE), 0xa);
	cr_expect_eq(encode(&crestmont, PLACE_REMOTE_DRAM, SNOOPED_NONE), 0xb);
	cr_expect_eq(encode(&crestmont, PLACE_REMOTE_CACHE, SNOOPED_HIT), 0xc);
	cr_expect_eq(encode(&crestmont, PLACE_REMOTE_CACHE, SNOOPED_MODIFIED), 0xd);
}

Test(model_load_source, e_cores_have_flags_at_other_bits)
{
	struct retired load = {.operation = OPERATION_LOAD, .place = PLACE_L1, .locked = true};

	cr_expect_eq(load_source_encode(&gracemont, &load), 0x11);
	cr_expect_eq(load_source_encode(&crestmont, &load), 0x21);
	load = (struct retired){
		.operation = OPERATION_LOAD, .place = PLACE_L1, .translated = TRANSLATED_WALK};
	cr_expect_eq(load_source_encode(&gracemont, &load), 0x21);
	cr_expect_eq(load_source_encode(&crestmont, &load), 0x41);
	load = (struct retired){.operation = OPERATION_LOAD, .place = PLACE_L1, .data_blocked = true};
	cr_expect_eq(load_source_encode(&gracemont, &load), 0x41);
	cr_expect_eq(load_source_encode(&crestmont, &load), 0x81);
	load = (struct retired){.operation = OPERATION_LOAD, .place = PLACE_L1, .address_blocked = true};
	cr_expect_eq(load_source_encode(&gracemont, &load), 0x01);
}

Test(model_load_source, nehalem_to_broadwell_encode_sources_beyond_l3)
{
	static const struct machine *const machines_here[] = {&nehalem, &sandy_bridge, &haswell};

	for (size_t i = 0; i < COUNT(machines_here); i++) {
		const struct machine *machine = machines_here[i];

		cr_expect_eq(encode(machine, PLACE_REMOTE_CACHE, SNOOPED_HIT), 0x8);
		cr_expect_eq(encode(machine, PLACE_LOCAL_DRAM, SNOOPED_HIT), 0xa);
		cr_expect_eq(encode(machine, PLACE_REMOTE_DRAM, SNOOPED_HIT), 0xb);
		cr_expect_eq(encode(machine, PLACE_LOCAL_DRAM, SNOOPED_NONE), 0xc);
		cr_expect_eq(encode(machine, PLACE_LOCAL_DRAM, SNOOPED_MISS), 0xc);
		cr_expect_eq(encode(machine, PLACE_REMOTE_DRAM, SNOOPED_MISS), 0xd);
	}
	cr_expect_eq(encode(&sandy_bridge, PLACE_REMOTE_CACHE, SNOOPED_MODIFIED), 0x9);
	cr_expect_eq(encode(&nehalem, PLACE_REMOTE_CACHE, SNOOPED_MODIFIED), 0x0); /* 9 is reserved */
}

Test(model_load_source, skylake_and_later_encode_sources_beyond_l3)
{
	static const struct machine *const machines_here[] = {&skylake, &skylake_server, &ice_lake,
							      &sapphire_rapids, &alder_lake};

	for (size_t i = 0; i < COUNT(machines_here); i++) {
		const struct machine *machine = machines_here[i];

		cr_expect_eq(encode(machine, PLACE_LOCAL_DRAM, SNOOPED_NONE), 0xa);
		cr_expect_eq(encode(machine, PLACE_LOCAL_DRAM, SNOOPED_HIT), 0xa);
		cr_expect_eq(encode(machine, PLACE_REMOTE_DRAM, SNOOPED_MISS), 0xb);
		cr_expect_eq(encode(machine, PLACE_REMOTE_CACHE, SNOOPED_HIT), 0xc);
		cr_expect_eq(encode(machine, PLACE_REMOTE_CACHE, SNOOPED_MODIFIED), 0xd);
	}
}

Test(model_load_source, no_machine_writes_reserved_bits_or_codes)
{
	for (size_t i = 0; i < COUNT(all); i++)
		for (u32 place = 0; place < PLACE_COUNT; place++)
			for (u32 snoop = 0; snoop < SNOOPED_COUNT; snoop++) {
				struct retired load = {.operation = OPERATION_LOAD,
						       .place = (u8)place,
						       .snoop = (u8)snoop,
						       .translated = TRANSLATED_WALK,
						       .locked = true,
						       .data_blocked = true,
						       .address_blocked = true};
				u64 encoded = load_source_encode(all[i], &load);
				u64 flags = encoded & ~0xfULL;

				switch (all[i]->encoding) {
				case ENCODING_NONE:
					cr_expect_eq(encoded, 0);
					break;
				case ENCODING_NEHALEM:
					cr_expect_eq(flags, 0);
					cr_expect_neq(encoded, 0x7);
					cr_expect_neq(encoded, 0x9);
					break;
				case ENCODING_GOLDEN_COVE:
				case ENCODING_GOLDEN_COVE_CLIENT:
					cr_expect_eq(flags, 0xf0);
					break;
				case ENCODING_GRACEMONT:
					cr_expect_eq(flags, 0x70);
					break;
				case ENCODING_CRESTMONT:
					cr_expect_eq(flags, 0xe0);
					break;
				default:
					cr_expect_eq(flags, 0x30);
				}
			}
}

Test(model_load_source, stlb_miss_is_bit_4_and_locked_bit_5)
{
	struct retired load = {.operation = OPERATION_LOAD, .place = PLACE_L2};

	load.translated = TRANSLATED_L2; /* an STLB hit */
	cr_expect_eq(load_source_encode(&sandy_bridge, &load), 0x03);
	load.translated = TRANSLATED_WALK;
	cr_expect_eq(load_source_encode(&sandy_bridge, &load), 0x13);
	load.locked = true;
	cr_expect_eq(load_source_encode(&sandy_bridge, &load), 0x33);
	load.translated = TRANSLATED_L1;
	cr_expect_eq(load_source_encode(&sandy_bridge, &load), 0x23);
	cr_expect_eq(load_source_encode(&nehalem, &load), 0x03);
}

Test(model_load_source, block_bits_are_6_for_data_and_7_for_the_address)
{
	struct retired load = {.operation = OPERATION_LOAD, .place = PLACE_L1, .data_blocked = true};

	cr_expect_eq(load_source_encode(&sapphire_rapids, &load), 0x41);
	cr_expect_eq(load_source_encode(&ice_lake, &load), 0x01);
	load = (struct retired){.operation = OPERATION_LOAD, .place = PLACE_L1, .address_blocked = true};
	cr_expect_eq(load_source_encode(&sapphire_rapids, &load), 0x81);
}

/* Table 18-34. */
Test(model_load_source, a_precise_store_has_l1d_hit_stlb_miss_and_locked)
{
	struct retired store = {.operation = OPERATION_STORE, .place = PLACE_L1};

	cr_expect_eq(store_status_encode(&store), 0x01);
	store.translated = TRANSLATED_L2;
	cr_expect_eq(store_status_encode(&store), 0x01);
	store.translated = TRANSLATED_WALK;
	cr_expect_eq(store_status_encode(&store), 0x11);
	store.locked = true;
	cr_expect_eq(store_status_encode(&store), 0x31);
	store.place = PLACE_FILL_BUFFER;
	cr_expect_eq(store_status_encode(&store), 0x30);
	cr_expect_eq(store_source_encode(&sandy_bridge, &store), 0x30);

	cr_expect_eq(store_status_data_src(0x01), 0x48080144);
	cr_expect_eq(store_status_data_src(0x30), 0x52080184);
}

Test(model_load_source, stores_from_haswell_to_ice_lake_only_have_l1d_hit)
{
	struct retired store = {.operation = OPERATION_STORE,
				.place = PLACE_L1,
				.translated = TRANSLATED_WALK,
				.locked = true};

	cr_expect_eq(store_source_encode(&haswell, &store), 0x1);
	store.place = PLACE_LOCAL_DRAM;
	cr_expect_eq(store_source_encode(&haswell, &store), 0x0);
	cr_expect_eq(store_source_data_src(&haswell, 0x1), 0x1e05080144);
	cr_expect_eq(store_source_data_src(&haswell, 0x30), 0x1e05080184);
	store.place = PLACE_L1;
	cr_expect_eq(store_source_encode(&nehalem, &store), 0x0); /* no store event */
	cr_expect_eq(store_source_data_src(&nehalem, 0x1), 0x1e05080021);
}

Test(model_load_source, store_latency_has_the_source_of_a_load)
{
	struct retired store = {.operation = OPERATION_STORE,
				.place = PLACE_REMOTE_DRAM,
				.translated = TRANSLATED_WALK,
				.data_blocked = true};

	cr_expect_eq(store_source_encode(&sapphire_rapids, &store), 0x1b);
	cr_expect_eq(store_source_data_src(&sapphire_rapids, 0x1b), 0x13a50100044);
}
