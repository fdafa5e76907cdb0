import type { SupervisorChannel } from "../channel/channel.ts";
import { questionName } from "./question-name.ts";

/** Names that are told of one hearing: a program may ask for as many as it likes. */
const maxNames = 20;

/** As `Container.hearNames`. Nothing waits for it, and where there is no resolver nothing is told. */
export function hearNames(channel: SupervisorChannel, onName: (name: string) => void): Disposable {
  const told = new Set<string>();
  let isOver = false;
  const onQuestion = (bytes: Uint8Array): void => {
    if (isOver || told.size >= maxNames) return;
    const name = questionName(bytes);
    if (name === null || told.has(name)) return;
    told.add(name);
    onName(name);
  };
  const listening = channel.listen(0, 4, { kind: "questions", onQuestion });
  listening.catch(() => {
    // There is no place for one more stream, or the sandbox is lost: its program says that by itself.
  });
  return {
    [Symbol.dispose]: () => {
      isOver = true;
      listening.then(
        (listener) => listener.close(),
        () => undefined,
      );
    },
  };
}
