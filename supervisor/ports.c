/*
 * The sandbox's loopback: connections to its ports, ports of its that lead out, datagrams, and a resolver that knows no name.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "supervisor.h"

#define BACKLOG 256
/* Connections that one look at a listener accepts. */
#define ACCEPTS 16
#define RESOLVER_PORT 53
/* Questions that one look at the resolver answers. */
#define ANSWERS 16
#define DNS_HEADER_BYTES 12

static int resolver_fd = -1, resolver_error = ENOTCONN;

union address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
};

static socklen_t loopback(union address *a, uint8_t family, uint16_t port) {
  memset(a, 0, sizeof *a);
  if (family == 4) {
    a->v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return sizeof a->v4;
  }
  a->v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  return sizeof a->v6;
}

static uint16_t port_of(const union address *a) { return ntohs(a->any.sa_family == AF_INET ? a->v4.sin_port : a->v6.sin6_port); }

static bool is_loopback(const union address *a) {
  if (a->any.sa_family == AF_INET) return ntohl(a->v4.sin_addr.s_addr) >> 24 == 127;
  return a->any.sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr);
}

static uint16_t own_port(int fd) {
  union address a;
  socklen_t length = sizeof a;
  return getsockname(fd, &a.any, &length) ? 0 : port_of(&a);
}

static int open_socket(uint8_t family, int type) {
  return socket(family == 4 ? AF_INET : AF_INET6, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static void check_family(uint8_t family) {
  if (family != 4 && family != 6) nonsense("an unknown address family");
}

void dial(uint32_t number, const struct frame_dial *frame, uint32_t bytes) {
  struct stream *s = stream_begin(number, KIND_CONNECTION);
  union address a;
  socklen_t length = loopback(&a, frame->family, frame->port);
  check_family(frame->family);
  bytes -= DIAL_BYTES;
  if (bytes && bytes != (frame->family == 4 ? sizeof a.v4.sin_addr : sizeof a.v6.sin6_addr)) nonsense("an address that is none");
  if (bytes) memcpy(frame->family == 4 ? (void *)&a.v4.sin_addr : (void *)&a.v6.sin6_addr, frame + 1, bytes);
  if (frame->port == 0 || frame->zero || frame->deadline_ms == 0 || frame->deadline_ms > 60000) nonsense("DIAL out of range");
  s->in_fd = s->out_fd = open_socket(frame->family, SOCK_STREAM);
  if (s->in_fd < 0 || (connect(s->in_fd, &a.any, length) && errno != EINPROGRESS)) {
    stream_fail(s, END_FAILED, STAGE_CONNECT, (uint32_t)errno);
    return;
  }
  s->connecting = true;
  s->deadline = now_ms() + frame->deadline_ms;
}

static void be_open(struct stream *s) {
  int one = 1;
  setsockopt(s->in_fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  s->connecting = false;
  s->open = true;
  s->deadline = 0;
}

/* A connection that was begun is there, or is not. */
void connection_opened(struct stream *s) {
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(s->in_fd, SOL_SOCKET, SO_ERROR, &error, &length)) error = errno;
  if (error) {
    stream_fail(s, END_FAILED, STAGE_CONNECT, (uint32_t)error);
    s->connecting = false;
    return;
  }
  be_open(s);
  s->port = own_port(s->in_fd);
  s->due |= DUE_OPENED;
}

/* The peer learns that it was broken off, and takes what it has read for no whole. */
void connection_reset(const struct stream *s) {
  static const struct linger at_once = {.l_onoff = 1};
  int fd = s->in_fd >= 0 ? s->in_fd : s->out_fd;
  if (s->open && fd >= 0) setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

/* The stream of what asks for nothing that is not there anyway. */
static void tell_questions(uint32_t number, const struct frame_listen *frame) {
  struct stream *s = stream_begin(number, KIND_QUESTIONS);
  if (frame->port != 0 || frame->family != 4) nonsense("LISTEN to questions elsewhere");
  s->shut_in = true;
  if (resolver_fd < 0) {
    stream_fail(s, END_FAILED, STAGE_BIND, (uint32_t)resolver_error);
    return;
  }
  s->port = RESOLVER_PORT;
  s->due |= DUE_OPENED;
}

static void listen_to(uint32_t number, const struct frame_listen *frame) {
  struct stream *s = stream_begin(number, frame->kind == 1 ? KIND_DATAGRAMS : KIND_LISTENER);
  union address a;
  socklen_t length = loopback(&a, frame->family, frame->port);
  int one = 1;
  check_family(frame->family);
  if (frame->kind > 1) nonsense("an unknown kind of LISTEN");
  s->out_fd = open_socket(frame->family, frame->kind == 1 ? SOCK_DGRAM : SOCK_STREAM);
  if (s->out_fd < 0) {
    stream_fail(s, END_FAILED, STAGE_BIND, (uint32_t)errno);
    return;
  }
  /* A port in TIME_WAIT is free; one that somebody listens on is not. */
  if (frame->kind == 0) setsockopt(s->out_fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (frame->family == 6) setsockopt(s->out_fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
  if (bind(s->out_fd, &a.any, length) || (frame->kind == 0 && listen(s->out_fd, BACKLOG))) {
    stream_fail(s, END_FAILED, STAGE_BIND, (uint32_t)errno);
    return;
  }
  s->port = own_port(s->out_fd);
  s->shut_in = true;
  s->due |= DUE_OPENED;
}

void listen_on(uint32_t number, const struct frame_listen *frame) {
  if (frame->kind == 2) tell_questions(number, frame);
  else listen_to(number, frame);
}

void listener_accept(struct stream *s) {
  for (int i = 0; i < ACCEPTS && stream_may_accept() && room_for_events(); i++) {
    union address a;
    socklen_t length = sizeof a;
    struct frame_accepted frame;
    struct stream *connection;
    int fd = accept4(s->out_fd, &a.any, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    if (s->due & DUE_OPENED || s->rejected) {
      close(fd);
      continue;
    }
    connection = stream_begin_own(KIND_CONNECTION);
    connection->in_fd = connection->out_fd = fd;
    be_open(connection);
    frame = (struct frame_accepted){.listener = s->number, .port = port_of(&a)};
    send_frame(F_ACCEPTED, connection->number, &frame, sizeof frame, NULL, 0);
  }
}

/* Takes one datagram; longer ones than allowed, and those for which there is no credit, are lost, as datagrams may be. */
void datagram_receive(struct stream *s) {
  static uint8_t bytes[DATAGRAM_BYTES + MAX_DATAGRAM_BYTES + 1];
  union address a;
  socklen_t length = sizeof a;
  uint16_t port;
  ssize_t size = recvfrom(s->out_fd, bytes + DATAGRAM_BYTES, MAX_DATAGRAM_BYTES + 1, 0, &a.any, &length);
  uint32_t cost = (uint32_t)size + sizeof port;
  if (size < 0 || size > (ssize_t)MAX_DATAGRAM_BYTES || !is_loopback(&a)) return;
  if (s->due & DUE_OPENED || !stream_may_send(s, cost)) return;
  port = port_of(&a);
  send_frame(F_DATAGRAM, s->number, &port, sizeof port, bytes + DATAGRAM_BYTES, (size_t)size);
  stream_count_sent(s, cost);
}

void datagram_send(const struct stream *s, uint16_t port, const uint8_t *bytes, uint32_t length) {
  union address a;
  socklen_t own = sizeof a;
  if (port == 0 || length > MAX_DATAGRAM_BYTES) nonsense("DATAGRAM out of range");
  if (s->out_fd < 0 || getsockname(s->out_fd, &a.any, &own)) return;
  own = loopback(&a, a.any.sa_family == AF_INET ? 4 : 6, port);
  if (sendto(s->out_fd, bytes, length, MSG_DONTWAIT, &a.any, own) < 0) return;
}

/*
 * The resolver: no name leads anywhere from here, and it says so at once, for some programs wait for seconds where nobody answers.
 * Where the port may not be bound there is none. A program that sets the same option takes its place.
 */
void resolver_open(void) {
  union address a;
  int one = 1;
  socklen_t length = loopback(&a, 4, RESOLVER_PORT);
  resolver_fd = open_socket(4, SOCK_DGRAM);
  if (resolver_fd >= 0 && !setsockopt(resolver_fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) && !bind(resolver_fd, &a.any, length)) return;
  resolver_error = errno;
  stream_close_fd(&resolver_fd);
}

int resolver_descriptor(void) { return resolver_fd; }

/* To all who listen, before the answer: what a program does after it comes later. */
static void tell_question(uint16_t port, const uint8_t *bytes, uint32_t size) {
  uint32_t cost = size + sizeof port;
  for (int i = 0; i < (int)MAX_STREAMS; i++) {
    struct stream *s = &streams[i];
    if (s->kind != KIND_QUESTIONS || s->rejected || s->due & DUE_OPENED || s->questions >= MAX_QUESTIONS || !stream_may_send(s, cost)) continue;
    s->questions++;
    send_frame(F_DATAGRAM, s->number, &port, sizeof port, bytes, size);
    stream_count_sent(s, cost);
  }
}

/* The answer is the question itself, called an answer: there is no such name. */
void resolver_answer(void) {
  static uint8_t bytes[MAX_QUESTION_BYTES + 1];
  for (int i = 0; i < ANSWERS; i++) {
    union address a;
    socklen_t length = sizeof a;
    ssize_t size = recvfrom(resolver_fd, bytes, sizeof bytes, 0, &a.any, &length);
    if (size < 0) return;
    if (size < DNS_HEADER_BYTES || size > (ssize_t)MAX_QUESTION_BYTES || bytes[2] & 0x80 || !is_loopback(&a)) continue;
    tell_question(port_of(&a), bytes, (uint32_t)size);
    bytes[2] |= 0x80;
    bytes[3] = 0x83;
    if (sendto(resolver_fd, bytes, (size_t)size, MSG_DONTWAIT, &a.any, length) < 0) continue;
  }
}
