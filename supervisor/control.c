/*
 * The control stream: frames in, frames out, both bounded. Nothing here knows what a frame means.
 */
#include <fcntl.h>

#include "supervisor.h"

#define IN_BYTES (HEADER_BYTES + MAX_PAYLOAD_BYTES)
#define OUT_BYTES (128u * 1024)
/* Room that is kept free of data, for everything else. */
#define EVENT_BYTES (16u * 1024)

static uint8_t in[IN_BYTES];
static uint32_t in_length;
static uint8_t out[OUT_BYTES];
static uint32_t out_start, out_end;

static uint32_t read32(const uint8_t *at) {
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

static uint16_t read16(const uint8_t *at) {
  uint16_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

/* Takes the whole frames out of the buffer, as long as what they do has room. */
void control_take(void) {
  uint32_t at = 0;
  while (in_length - at >= HEADER_BYTES && dispatch_can_take()) {
    const uint8_t *header = in + at;
    uint32_t length = read32(header);
    if (length > MAX_PAYLOAD_BYTES) nonsense("a frame is too long");
    if (header[5]) nonsense("a header's zero is not zero");
    if (settings.done ? read16(header + 6) != settings.epoch : header[4] != F_SETUP) {
      nonsense(settings.done ? "a frame is of another epoch" : "the first frame is not SETUP");
    }
    if (in_length - at - HEADER_BYTES < length) break;
    if (!settings.done) settings.epoch = read16(header + 6);
    dispatch(header[4], read32(header + 8), header + HEADER_BYTES, length);
    at += HEADER_BYTES + length;
  }
  if (at == 0) return;
  memmove(in, in + at, in_length - at);
  in_length -= at;
}

void control_read(void) {
  ssize_t length;
  if (in_length == IN_BYTES) return;
  length = read(0, in + in_length, IN_BYTES - in_length);
  if (length == 0) trouble(CODE_CUT, "the control stream ended");
  if (length < 0) {
    if (errno == EAGAIN || errno == EINTR) return;
    trouble(CODE_CUT, "the control stream broke");
  }
  in_length += (uint32_t)length;
}

bool control_wants_write(void) { return out_end > out_start; }

bool control_write(void) {
  ssize_t length;
  if (out_end == out_start) return false;
  length = write(1, out + out_start, out_end - out_start);
  if (length < 0) {
    if (errno == EAGAIN || errno == EINTR) return true;
    if (errno == EPIPE || errno == ECONNRESET) _exit(CODE_CUT);
    _exit(CODE_BROKEN);
  }
  out_start += (uint32_t)length;
  if (out_start == out_end) out_start = out_end = 0;
  return out_end > out_start;
}

size_t control_room(void) { return OUT_BYTES - (out_end - out_start); }

/* So many bytes fit behind the waiting ones. */
static void make_tail(size_t bytes) {
  if (OUT_BYTES - out_end >= bytes) return;
  memmove(out, out + out_start, out_end - out_start);
  out_end -= out_start;
  out_start = 0;
}

bool room_for_data(void) { return OUT_BYTES - (out_end - out_start) >= EVENT_BYTES + HEADER_BYTES + SLICE_BYTES; }

bool room_for_events(void) { return OUT_BYTES - (out_end - out_start) >= EVENT_BYTES / 2; }

static void put_header(uint8_t *at, uint8_t type, uint32_t stream, uint32_t length) {
  memcpy(at, &length, 4);
  at[4] = type;
  at[5] = 0;
  memcpy(at + 6, &settings.epoch, 2);
  memcpy(at + 8, &stream, 4);
}

/* The caller has seen to it that there is room. */
void send_frame(uint8_t type, uint32_t stream, const void *fields, size_t bytes, const void *tail, size_t tail_bytes) {
  uint8_t *at;
  if (control_room() < HEADER_BYTES + bytes + tail_bytes) trouble(CODE_BROKEN, "no room for a frame");
  make_tail(HEADER_BYTES + bytes + tail_bytes);
  at = out + out_end;
  put_header(at, type, stream, (uint32_t)(bytes + tail_bytes));
  if (bytes) memcpy(at + HEADER_BYTES, fields, bytes);
  if (tail_bytes) memcpy(at + HEADER_BYTES + bytes, tail, tail_bytes);
  out_end += (uint32_t)(HEADER_BYTES + bytes + tail_bytes);
}

/* Where the bytes of a data frame go, at most SLICE_BYTES; after room_for_data(). */
uint8_t *data_frame_begin(void) {
  make_tail(HEADER_BYTES + SLICE_BYTES);
  return out + out_end + HEADER_BYTES;
}

void data_frame_end(uint8_t type, uint32_t stream, size_t bytes) {
  put_header(out + out_end, type, stream, (uint32_t)bytes);
  out_end += (uint32_t)(HEADER_BYTES + bytes);
}
