import type { VNode } from "preact";

/** Outlines on a grid of 16. */
const shapes = {
  check: "M3.5 8.5l3 3 6-7",
  cross: "M4 4l8 8M12 4l-8 8",
  clock: "M8 4v4l2.5 2M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8",
  warning: "M8 2.2l6.2 11H1.8zM8 6.5v3M8 11.4v.2",
  stop: "M4.5 4.5h7v7h-7z",
  minus: "M4 8h8",
  back: "M9.5 3.5L5 8l4.5 4.5",
  copy: "M5.5 5.5h7v7h-7zM3.5 10.5v-7h7",
  sun: "M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6M8 1.3v1.4M8 13.3v1.4M1.3 8h1.4M13.3 8h1.4M3.3 3.3l1 1M11.7 11.7l1 1M3.3 12.7l1-1M11.7 4.3l1-1",
  moon: "M13 9.6A5.5 5.5 0 0 1 6.4 3 5.5 5.5 0 1 0 13 9.6z",
  system: "M2 3h12v8H2zM6 13.5h4",
  help: "M6 6a2 2 0 1 1 2.6 1.9c-.5.2-.6.5-.6 1.1M8 11.4v.2M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8",
  leave: "M6.5 2.5h-4v11h4M6.5 8h7M10.5 5l3 3-3 3",
  down: "M8 3v9M4.5 8.5L8 12l3.5-3.5",
  shield: "M8 1.8l5 2v4c0 3.2-2.1 5.3-5 6.4-2.9-1.1-5-3.2-5-6.4v-4z",
  box: "M2.5 5L8 2l5.5 3v6L8 14l-5.5-3zM2.5 5L8 8l5.5-3M8 8v6",
} as const;

export type IconName = keyof typeof shapes;

/** Says nothing by itself: what it stands for is written beside it, or is its button's label. */
export function Icon({ name }: { readonly name: IconName }): VNode {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={shapes[name]} />
    </svg>
  );
}
