import { signal, type Signal } from "@preact/signals";

/** Who this page is to the server. */
export interface Session {
  /** `unknown`: nothing was asked yet; `open`: the server accepts our requests. */
  readonly state: "unknown" | "open" | "signed-out";
  /** Sent with each request in a header; empty: none. */
  readonly token: string;
  /** Why it is signed out, if somebody should know. */
  readonly problem?: string;
}

/** In this tab and of this origin only, unlike a cookie: nothing else can make a browser send it. */
const storageKey = "glovebox.token";
/** What a header can hold. */
const tokenForm = /^[\x21-\x7e]{1,512}$/;

export const session: Signal<Session> = signal<Session>({ state: "unknown", token: "" });

/** Takes the token from the address's fragment, which is then removed from it, or else the one of this tab. */
export function openSession(): void {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given !== null) {
    history.replaceState(null, "", `${location.pathname}#/`);
    if (tokenForm.test(given)) sessionStorage.setItem(storageKey, given);
  }
  session.value = { state: "unknown", token: sessionStorage.getItem(storageKey) ?? "" };
}

/** False for what cannot be a token. */
export function signIn(token: string): boolean {
  if (!tokenForm.test(token)) return false;
  sessionStorage.setItem(storageKey, token);
  session.value = { state: "unknown", token };
  return true;
}

export function signOut(problem?: string): void {
  sessionStorage.removeItem(storageKey);
  session.value = { state: "signed-out", token: "", ...(problem === undefined ? {} : { problem }) };
}

/** The server has answered: we may send more requests. */
export function sessionIsOpen(): void {
  if (session.value.state !== "open") session.value = { ...session.value, state: "open" };
}
