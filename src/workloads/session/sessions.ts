import { createId } from "../../base/id.ts";
import type { Logger } from "../../base/logger.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { WorkArchives } from "../../sandbox/work-archives.ts";
import type { SessionSettings } from "./session-call.ts";
import { Session } from "./session.ts";

export interface SessionsOptions {
  readonly archives: WorkArchives;
  /** An idle session ends after it (SPEC SE5). */
  readonly idleMs: number;
  /** Requests that wait for a place which a stopped session could give them. */
  readonly waiting: () => number;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Who asks, and over which connection. */
export interface SessionOwner {
  readonly principal: string;
  /** Calls over one connection share the session that they do not name. */
  readonly connection?: string | undefined;
}

/** Sessions that one principal may have at once; those that are stopped take room on the disk. */
const maxSessions = 100;

/** The sessions that have not ended, and when they do. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #ofConnection = new Map<string, string>();
  /** In the order in which they became idle. */
  readonly #idle = new Map<Session, NodeJS.Timeout>();
  readonly #stopping = new Set<Session>();
  #isClosed = false;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** The session that is named, or the connection's own; null when there is none yet. @throws NOT_FOUND */
  find(id: string | undefined, { principal, connection }: SessionOwner): Session | null {
    if (id === undefined) {
      const own = connection === undefined ? undefined : this.#ofConnection.get(keyOf(principal, connection));
      return own === undefined ? null : (this.#sessions.get(own) ?? null);
    }
    const session = this.#sessions.get(id);
    if (session !== undefined && session.principal === principal) return session;
    throw notFound(id, this.#options.idleMs, this.#ofPrincipal(principal));
  }

  /** A new session, the connection's own if there is one. @throws CAPACITY, CANCELLED after `close` */
  create(settings: SessionSettings, { principal, connection }: SessionOwner): Session {
    if (this.#isClosed) throw new GloveboxError("CANCELLED", "Glovebox is shutting down.");
    const own = this.#ofPrincipal(principal);
    if (own.length >= maxSessions) {
      throw new GloveboxError("CAPACITY", `${maxSessions} sessions are open already.`, {
        suggestion: "End some with end_session, or go on in one of them by its session_id.",
        context: { limit: maxSessions, session_ids: own },
      });
    }
    const session = new Session({
      id: createId("ses"),
      principal,
      settings,
      archives: this.#options.archives,
      logger: this.#options.logger,
      now: this.#options.now,
      onBusy: (busy) => this.#forgetIdle(busy),
      onIdle: (idle) => this.#becomeIdle(idle),
    });
    this.#sessions.set(session.id, session);
    if (connection !== undefined) this.#ofConnection.set(keyOf(principal, connection), session.id);
    this.#watch(session);
    return session;
  }

  /** Ends a session with its sandbox and its files. */
  async end(session: Session): Promise<void> {
    this.#forgetIdle(session);
    this.#sessions.delete(session.id);
    for (const [key, id] of this.#ofConnection) if (id === session.id) this.#ofConnection.delete(key);
    await session.end();
  }

  /** Ends the session of a connection that has ended. */
  async endConnection(owner: SessionOwner): Promise<void> {
    const session = this.find(undefined, owner);
    if (session !== null) await this.end(session);
  }

  /** Stops idle sessions, those idle longest first, as long as others wait for their places (SPEC LI4). */
  makeRoom(): void {
    for (const session of this.#idle.keys()) {
      if (this.#stopping.size >= this.#options.waiting()) return;
      if (!session.canStop || this.#stopping.has(session)) continue;
      this.#stopping.add(session);
      void session.stop().finally(() => {
        this.#stopping.delete(session);
        this.makeRoom();
      });
    }
  }

  /** Ends every session, and lets no new one in. */
  async close(): Promise<void> {
    this.#isClosed = true;
    // A removal that fails is in the log already.
    await Promise.allSettled([...this.#sessions.values()].map((session) => this.end(session)));
  }

  #becomeIdle(session: Session): void {
    this.#watch(session);
    this.makeRoom();
  }

  #watch(session: Session): void {
    this.#forgetIdle(session);
    if (!this.#sessions.has(session.id)) return;
    const timer = setTimeout(() => {
      this.#options.logger.info({ session: session.id }, "idle session ended");
      // A removal that fails is in the log already, and the sweep's.
      void this.end(session).catch(() => undefined);
    }, this.#options.idleMs);
    this.#idle.set(session, timer.unref());
  }

  /** Work that goes on counts as activity. */
  #forgetIdle(session: Session): void {
    clearTimeout(this.#idle.get(session));
    this.#idle.delete(session);
  }

  #ofPrincipal(principal: string): string[] {
    return [...this.#sessions.values()].filter((session) => session.principal === principal).map(({ id }) => id);
  }
}

function keyOf(principal: string, connection: string): string {
  return JSON.stringify([principal, connection]);
}

function notFound(id: string, idleMs: number, own: readonly string[]): GloveboxError {
  const shown = JSON.stringify(id.slice(0, 80));
  return new GloveboxError("NOT_FOUND", `No session has the id ${shown}.`, {
    suggestion: `A session ends by end_session, after ${Math.round(idleMs / 60_000)} minutes without a call, and with its server. Leave session_id out to begin a new one, or name one of your own.`,
    context: { session_id: id.slice(0, 80), session_ids: own },
  });
}
