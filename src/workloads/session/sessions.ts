import { createId } from "../../base/id.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { WorkArchives } from "../../sandbox/work-archives.ts";
import { PlaceRegistry, type PlaceEntry } from "../place/place-registry.ts";
import type { SessionSettings } from "./session-call.ts";
import { Session } from "./session.ts";
import type { Kit } from "../../base/kit.ts";

export interface SessionsOptions extends Pick<Kit, "logger" | "now"> {
  readonly archives: WorkArchives;
  /** An idle session ends after it (SPEC SE5). */
  readonly idleMs: number;
  /** Requests that wait for a place which a stopped session of the principal could give them. */
  readonly waiting: (principal: string) => number;
}

/** Who asks, and over which connection. */
export interface SessionOwner {
  readonly principal: string;
  /** Calls over one connection share the session that they do not name. */
  readonly connection?: string | undefined;
}

/** Sessions that one principal may have at once; stopped ones take up room on the disk. */
const maxSessions = 100;

/** The sessions that have not ended, and when they will. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #places: PlaceRegistry<Session>;
  readonly #ofConnection = new Map<string, string>();
  readonly #stopping = new Set<Session>();

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#places = new PlaceRegistry({ ...options, noun: "session", end: (session) => this.#end(session) });
  }

  /** The session that an id, a name or the beginning of an id means, or the connection's own; null when there is none yet. @throws NOT_FOUND */
  find(id: string | undefined, { principal, connection }: SessionOwner): Session | null {
    if (id === undefined) {
      const own = connection === undefined ? undefined : this.#ofConnection.get(keyOf(principal, connection));
      return own === undefined ? null : this.#known(own, principal);
    }
    const session = this.#places.meant(id, principal)?.content;
    if (session?.isEnding === false) return session;
    throw notFound(id, this.#options.idleMs, this.#idsOf(principal));
  }

  /** The principal's own that have not ended. */
  list(principal: string): readonly Session[] {
    return this.#places.of(principal).flatMap(({ content }) => (content.isEnding ? [] : [content]));
  }

  /** A new session, the connection's own if there is one. @throws CAPACITY, CANCELLED after `close` */
  create(settings: SessionSettings, { principal, connection }: SessionOwner): Session {
    const own = this.#idsOf(principal);
    if (own.length >= maxSessions) {
      throw new GloveboxError("CAPACITY", `${maxSessions} sessions are open already.`, {
        suggestion: "End some with end_session, or go on in one of them by its session_id.",
        context: { limit: maxSessions, session_ids: own },
      });
    }
    const session: Session = new Session({
      ...this.#options,
      id: createId("ses"),
      principal,
      settings,
      onActivity: (isBusy) => this.#setBusy(entry, isBusy),
    });
    const entry = this.#places.enter(session.id, principal, session, settings.name);
    if (connection !== undefined) this.#ofConnection.set(keyOf(principal, connection), session.id);
    this.#places.setBusy(entry, false);
    return session;
  }

  /** Ends a session with its sandbox and its files. */
  async end(session: Session): Promise<void> {
    const entry = this.#places.find(session.id, session.principal);
    await (entry === undefined ? session.end() : this.#places.end(entry));
  }

  /** Ends the session of a connection that has ended. */
  async endConnection(owner: SessionOwner): Promise<void> {
    const session = this.find(undefined, owner);
    if (session !== null) await this.end(session);
  }

  /** Stops idle sessions, those idle longest first, as long as others wait for their places (SPEC LI4). */
  makeRoom(): void {
    for (const session of this.#places.idle) {
      if (this.#stopping.size >= this.#options.waiting(session.principal)) continue;
      if (!session.canStop || this.#stopping.has(session)) continue;
      this.#stopping.add(session);
      void session.stop().finally(() => {
        this.#stopping.delete(session);
        this.makeRoom();
      });
    }
  }

  /** Ends all sessions of a principal. */
  endAll(principal: string): Promise<void> {
    return this.#places.endAll(principal);
  }

  /** Ends every session, and accepts no new ones. */
  close(): Promise<void> {
    return this.#places.close();
  }

  #setBusy(entry: PlaceEntry<Session>, isBusy: boolean): void {
    this.#places.setBusy(entry, isBusy);
    if (!isBusy) this.makeRoom();
  }

  #end(session: Session): Promise<void> {
    for (const [key, id] of this.#ofConnection) if (id === session.id) this.#ofConnection.delete(key);
    return session.end();
  }

  /** A session that ends is no longer known. */
  #known(id: string, principal: string): Session | null {
    const session = this.#places.find(id, principal)?.content;
    return session === undefined || session.isEnding ? null : session;
  }

  #idsOf(principal: string): readonly string[] {
    return this.list(principal).map(({ id }) => id);
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
