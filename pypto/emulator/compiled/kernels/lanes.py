"""Vector instructions element by element: masks, strides, and long runs where the layout allows.

A repeat is eight blocks of 32 bytes. A *window* is the largest piece in which every operand is
contiguous: the whole operand, one repeat or one block; windows are computed by loops that LLVM
turns into vector code.
"""

from __future__ import annotations

import numpy as np

from pypto.emulator.compiled.raw import internal, load_apart, move_bytes, pointer, store_apart
from pypto.target.memory import BLOCK_BYTES, REPEAT_BYTES

BLOCKS = REPEAT_BYTES // BLOCK_BYTES
HOLES = -1


@internal
def prefix(mode, high, low, lanes):
    """How many leading lanes of a repeat are on; HOLES when the lanes on are not leading ones."""
    if mode != 0:
        return lanes
    if lanes < 64:
        low &= (1 << lanes) - 1
    if lanes <= 64:
        high = 0
    if low != -1 and high != 0:
        return HOLES
    length = 0
    bits = low
    if low == -1:
        length = 64
        bits = high
    # A lone run of low bits plus one has no bit in common with it.
    if bits == -1:
        return min(lanes, length + 64)
    if bits & (bits + 1) != 0:
        return HOLES
    while bits != 0:
        bits = np.int64(np.uint64(bits) >> np.uint64(1))
        length += 1
    return min(lanes, length)


@internal
def repeat_count(mode, low, repeat, lanes):
    """Repeats executed: the field, or as many as the element count needs."""
    if mode == 0:
        return repeat
    return max(0, (low + lanes - 1) // lanes)


@internal
def lane_on(mode, high, low, lanes, i, lane):
    """Whether a lane of repeat ``i`` takes part."""
    if mode != 0:
        return i * lanes + lane < low
    word = low if lane < 64 else high
    return (word >> (lane & 63)) & 1 != 0


@internal
def whole(block, repeat, size, lanes, total):
    """Whether ``total`` lanes of an operand lie one after the other."""
    if block != 1 and total * size > BLOCK_BYTES:
        return False
    return total <= lanes or repeat * BLOCK_BYTES == lanes * size


@internal
def span(block, lanes, size):
    """Bytes from the first to behind the last of ``lanes`` lanes of a repeat."""
    blocks = (lanes * size + BLOCK_BYTES - 1) // BLOCK_BYTES
    return (blocks - 1) * block * BLOCK_BYTES + min(lanes * size, BLOCK_BYTES)


@internal
def apart(target, target_block, target_size, source, source_block, source_size, lanes):
    """Whether lanes of a source lie where those of the target lie, or share no byte with any."""
    if target == source and target_block == source_block and target_size == source_size:
        return True
    if target + span(target_block, lanes, target_size) <= source:
        return True
    return source + span(source_block, lanes, source_size) <= target


@internal
def place(start, block, repeat, i, lane, size):
    """The address of a lane of repeat ``i``."""
    offset = lane * size
    return start + (i * repeat + offset // BLOCK_BYTES * block) * BLOCK_BYTES + offset % BLOCK_BYTES


@internal
def window(mode, low, repeat, lanes, on, all_whole, one_block_each, narrow):
    """(repeats, windows per repeat, lanes per window) of an instruction.

    ``on``: leading lanes that are on; ``all_whole``: every operand is contiguous over repeats;
    ``one_block_each``: within a repeat; ``narrow``: lanes of one block of the widest operand.
    """
    count = repeat_count(mode, low, repeat, lanes)
    if all_whole and (mode != 0 or on == lanes or count <= 1):
        return min(count, 1), 1, count * lanes
    if one_block_each:
        return count, 1, lanes
    return count, lanes // narrow, narrow


@internal
def total_lanes(mode, low, repeat, lanes, on):
    """Lanes from the first to the last that is on, over all repeats."""
    if mode != 0:
        return max(low, 0)
    return (repeat - 1) * lanes + on if repeat > 0 and on >= 0 else repeat * lanes


@internal
def lanes_in_window(mode, low, lanes, on, i, j, width):
    """Leading lanes of window ``j`` of repeat ``i`` that are on, HOLES when they do not lead."""
    if mode != 0:
        return min(max(low - i * lanes - j * width, 0), width)
    if on == HOLES or width > lanes:
        return HOLES if on == HOLES else width
    return min(max(on - j * width, 0), width)


@internal
def run_binary(target, first, second, count, element, source_kind, target_kind, decode, encode):
    """A window: no lane reads what another writes."""
    d = pointer(target, target_kind)
    a, b = pointer(first, source_kind), pointer(second, source_kind)
    for k in range(count):
        value = element(decode(load_apart(a, k)), decode(load_apart(b, k)))
        store_apart(d, k, encode(value))


@internal
def binary(
    f, ub, scratch, element, source_kind, source_size, target_kind, size, decode, encode, infinity
):
    """dst = element(src0, src1) on the lanes that are on, counted on the wider type.

    A repeat reads before it writes. ``infinity``: see ``saturate``.
    """
    wide = max(source_size, size)
    lanes = REPEAT_BYTES // wide
    mode, high, low = f.mask_mode, f.mask_high, f.mask_low
    on = prefix(mode, high, low, lanes)
    total = total_lanes(mode, low, f.repeat, lanes, on)
    all_whole = (
        whole(f.dst_block, f.dst_repeat, size, lanes, total)
        and whole(f.src0_block, f.src0_repeat, source_size, lanes, total)
        and whole(f.src1_block, f.src1_repeat, source_size, lanes, total)
    )
    one_each = f.dst_block == 1 and f.src0_block == 1 and f.src1_block == 1
    narrow = BLOCK_BYTES // wide
    # One window only where no lane reads what an earlier repeat wrote.
    all_whole = all_whole and f.saturation == 0
    if all_whole and total > lanes:
        all_whole = apart(f.dst, 1, size, f.src0, 1, source_size, total)
        all_whole = all_whole and apart(f.dst, 1, size, f.src1, 1, source_size, total)
    count, parts, width = window(mode, low, f.repeat, lanes, on, all_whole, one_each, narrow)
    for i in range(count):
        d = ub + place(f.dst, f.dst_block, f.dst_repeat, i, 0, size)
        a = ub + place(f.src0, f.src0_block, f.src0_repeat, i, 0, source_size)
        b = ub + place(f.src1, f.src1_block, f.src1_repeat, i, 0, source_size)
        # Lanes behind the last one that is on neither read nor write.
        reach = min(parts * width, total - i * lanes)
        windows = (
            on != HOLES
            and apart(d, f.dst_block, size, a, f.src0_block, source_size, reach)
            and apart(d, f.dst_block, size, b, f.src1_block, source_size, reach)
        )
        for j in range(parts if windows else 0):
            run = lanes_in_window(mode, low, lanes, on, i, j, width)
            run_binary(
                place(d, f.dst_block, 0, 0, j * width, size),
                place(a, f.src0_block, 0, 0, j * width, source_size),
                place(b, f.src1_block, 0, 0, j * width, source_size),
                run, element, source_kind, target_kind, decode, encode,
            )  # fmt: skip
        results = pointer(scratch, target_kind)
        for lane in range(0 if windows else lanes):
            if lane_on(mode, high, low, lanes, i, lane):
                x = pointer(place(a, f.src0_block, 0, 0, lane, source_size), source_kind)[0]
                y = pointer(place(b, f.src1_block, 0, 0, lane, source_size), source_kind)[0]
                results[lane] = encode(element(decode(x), decode(y)))
        if not windows:
            write_lanes(d, f.dst_block, results, target_kind, size, mode, high, low, lanes, i)
        if f.saturation != 0 and infinity != 0:
            saturate(d, f.dst_block, infinity, mode, high, low, lanes, i)
    return 0


@internal
def write_lanes(target, block, results, kind, size, mode, high, low, lanes, i):
    """The results of a repeat to the lanes that are on."""
    for lane in range(lanes):
        if lane_on(mode, high, low, lanes, i, lane):
            pointer(place(target, block, 0, 0, lane, size), kind)[0] = results[lane]


@internal
def limited(bits, infinity):
    """Bits of a 16-bit float, the largest number in place of infinity and 0 in place of NaN."""
    magnitude = bits & 0x7FFF
    if magnitude < infinity:
        return bits
    return 0 if magnitude > infinity else (bits & 0x8000) | (infinity - 1)


@internal
def saturate(target, block, infinity, mode, high, low, lanes, i):
    """Limit the 16-bit floats of a repeat; ``infinity``: its bits in the type, 0 for others."""
    for lane in range(lanes):
        if lane_on(mode, high, low, lanes, i, lane):
            d = pointer(place(target, block, 0, 0, lane, 2), np.uint16)
            d[0] = np.uint16(limited(np.int64(d[0]), infinity))


@internal
def run_mapped(target, source, count, element, scalar, source_kind, target_kind, decode, encode):
    """A window: no lane reads what another writes."""
    d, a = pointer(target, target_kind), pointer(source, source_kind)
    for k in range(count):
        store_apart(d, k, encode(element(decode(load_apart(a, k)), scalar)))


@internal
def mapped(
    f, ub, scratch, element, scalar, source_kind, source_size, target_kind, size, decode, encode,
    infinity,
):  # fmt: skip
    """dst = element(src, scalar) on the lanes that are on, counted on the wider type.

    A repeat reads before it writes. ``infinity``: see ``saturate``.
    """
    wide = max(source_size, size)
    lanes = REPEAT_BYTES // wide
    mode, high, low = f.mask_mode, f.mask_high, f.mask_low
    on = prefix(mode, high, low, lanes)
    total = total_lanes(mode, low, f.repeat, lanes, on)
    all_whole = whole(f.dst_block, f.dst_repeat, size, lanes, total) and whole(
        f.src_block, f.src_repeat, source_size, lanes, total
    )
    one_each = f.dst_block == 1 and f.src_block == 1
    narrow = BLOCK_BYTES // wide
    all_whole = all_whole and f.saturation == 0
    if all_whole and total > lanes:
        all_whole = apart(f.dst, 1, size, f.src, 1, source_size, total)
    count, parts, width = window(mode, low, f.repeat, lanes, on, all_whole, one_each, narrow)
    for i in range(count):
        d = ub + place(f.dst, f.dst_block, f.dst_repeat, i, 0, size)
        a = ub + place(f.src, f.src_block, f.src_repeat, i, 0, source_size)
        # Lanes behind the last one that is on neither read nor write.
        reach = min(parts * width, total - i * lanes)
        windows = on != HOLES and apart(d, f.dst_block, size, a, f.src_block, source_size, reach)
        for j in range(parts if windows else 0):
            run = lanes_in_window(mode, low, lanes, on, i, j, width)
            run_mapped(
                place(d, f.dst_block, 0, 0, j * width, size),
                place(a, f.src_block, 0, 0, j * width, source_size),
                run, element, scalar, source_kind, target_kind, decode, encode,
            )  # fmt: skip
        results = pointer(scratch, target_kind)
        for lane in range(0 if windows else lanes):
            if lane_on(mode, high, low, lanes, i, lane):
                x = pointer(place(a, f.src_block, 0, 0, lane, source_size), source_kind)[0]
                results[lane] = encode(element(decode(x), scalar))
        if not windows:
            write_lanes(d, f.dst_block, results, target_kind, size, mode, high, low, lanes, i)
        if f.saturation != 0 and infinity != 0:
            saturate(d, f.dst_block, infinity, mode, high, low, lanes, i)
    return 0


@internal
def filled(f, ub, value, kind, size):
    """dst = value on the lanes that are on."""
    lanes = REPEAT_BYTES // size
    mode, high, low = f.mask_mode, f.mask_high, f.mask_low
    on = prefix(mode, high, low, lanes)
    total = total_lanes(mode, low, f.repeat, lanes, on)
    all_whole = whole(f.dst_block, f.dst_repeat, size, lanes, total)
    one_each = f.dst_block == 1
    narrow = BLOCK_BYTES // size
    count, parts, width = window(mode, low, f.repeat, lanes, on, all_whole, one_each, narrow)
    for i in range(count):
        for j in range(parts):
            lane = j * width
            d = pointer(ub + place(f.dst, f.dst_block, f.dst_repeat, i, lane, size), kind)
            run = lanes_in_window(mode, low, lanes, on, i, j, width)
            for k in range(run):
                d[k] = value
            if run == HOLES:
                for k in range(width):
                    if lane_on(mode, high, low, lanes, i, lane + k):
                        d[k] = value
    return 0


@internal
def selected(f, ub, scratch, mask, step, kind, size):
    """dst = src0 where the bit at ``mask`` is 1, else src1, on the lanes that are on.

    A repeat's bits begin ``step`` bits after those of the one before.
    """
    lanes = REPEAT_BYTES // size
    mode, high, low = f.mask_mode, f.mask_high, f.mask_low
    narrow = BLOCK_BYTES // size
    bits = pointer(mask, np.uint8)
    results = pointer(scratch, kind)
    for i in range(repeat_count(mode, low, f.repeat, lanes)):
        for j in range(BLOCKS):
            lane = j * narrow
            a = pointer(ub + place(f.src0, f.src0_block, f.src0_repeat, i, lane, size), kind)
            b = pointer(ub + place(f.src1, f.src1_block, f.src1_repeat, i, lane, size), kind)
            for k in range(narrow):
                bit = i * step + lane + k
                if lane_on(mode, high, low, lanes, i, lane + k):
                    chosen = (bits[bit >> 3] >> (bit & 7)) & 1
                    results[lane + k] = a[k] if chosen else b[k]
        d = ub + place(f.dst, f.dst_block, f.dst_repeat, i, 0, size)
        write_lanes(d, f.dst_block, results, kind, size, mode, high, low, lanes, i)
    return 0


@internal
def broadcast_blocks(f, ub, kind, size):
    """Block j of repeat i of dst is filled with src[8 * i + j]."""
    narrow = BLOCK_BYTES // size
    for i in range(f.repeat):
        for j in range(BLOCKS):
            value = pointer(ub + f.src, kind)[i * BLOCKS + j]
            at = f.dst + (i * f.dst_repeat + j * f.dst_block) * BLOCK_BYTES
            d = pointer(ub + at, kind)
            for k in range(narrow):
                d[k] = value
    return 0


@internal
def gathered(f, ub, limit, kind, size):
    """dst[i] = the element at byte ``base + offsets[i]``; 1 + the address that is beyond UB."""
    lanes = REPEAT_BYTES // size
    mode, high, low = f.mask_mode, f.mask_high, f.mask_low
    for i in range(repeat_count(mode, low, f.repeat, lanes)):
        offsets = pointer(ub + f.offsets + i * lanes * 4, np.uint32)
        d = pointer(ub + f.dst + i * f.dst_repeat * BLOCK_BYTES, kind)
        for lane in range(lanes):
            if lane_on(mode, high, low, lanes, i, lane):
                at = f.base + np.int64(offsets[lane])
                if at + size > limit:
                    return at + 1
                d[lane] = pointer(ub + at, kind)[0]
    return 0


@internal
def compared(first, second, bits, count, element, kind, decode, scalar, use_scalar):
    """``count`` dense bits: element(first, second), or against a scalar; count is 8 x n."""
    a, b = pointer(first, kind), pointer(second, kind)
    d = pointer(bits, np.uint8)
    for k in range(count >> 3):
        byte = np.uint8(0)
        for bit in range(8):
            x = decode(a[8 * k + bit])
            y = scalar if use_scalar else decode(b[8 * k + bit])
            if element(x, y):
                byte |= np.uint8(1 << bit)
        d[k] = byte


@internal
def compare(f, ub, scratch, element, kind, size, decode, zero):
    """Dense bits of element(src0, src1); the mask is ignored."""
    lanes = REPEAT_BYTES // size
    narrow = BLOCK_BYTES // size
    for i in range(f.repeat):
        for j in range(BLOCKS):
            lane = j * narrow
            a = ub + place(f.src0, f.src0_block, f.src0_repeat, i, lane, size)
            b = ub + place(f.src1, f.src1_block, f.src1_repeat, i, lane, size)
            compared(a, b, scratch + lane // 8, narrow, element, kind, decode, zero, False)
        move_bytes(ub + f.dst + i * lanes // 8, scratch, lanes // 8)
    return 0


@internal
def compare_scalar(f, ub, scratch, element, scalar, kind, size, decode):
    """Dense bits of element(src, scalar); the mask is ignored."""
    lanes = REPEAT_BYTES // size
    narrow = BLOCK_BYTES // size
    for i in range(f.repeat):
        for j in range(BLOCKS):
            lane = j * narrow
            a = ub + place(f.src, f.src_block, f.src_repeat, i, lane, size)
            compared(a, a, scratch + lane // 8, narrow, element, kind, decode, scalar, True)
        move_bytes(ub + f.dst + i * lanes // 8, scratch, lanes // 8)
    return 0
