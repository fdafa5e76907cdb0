import type { ProcessRow } from "./process-table.ts";

/**
 * A program and whatever it may have started: its descendants, its process group and its session, and theirs. The
 * program leads a group and a session of its own, so that these outlive it as marks of those that it left behind.
 */
export function familyOf(leader: number, rows: readonly ProcessRow[]): readonly number[] {
  const family = new Set<number>([leader]);
  for (let before = -1; before !== family.size;) {
    before = family.size;
    for (const { id, parent, group, session } of rows) {
      if (family.has(parent) || family.has(group) || (session !== null && family.has(session))) family.add(id);
    }
  }
  const present = new Set(rows.map(({ id }) => id));
  return [...family].filter((id) => present.has(id));
}

/** The process groups of a family: all of them are its own, since nothing joins a group of another session. */
export function groupsOf(family: readonly number[], rows: readonly ProcessRow[]): readonly number[] {
  const members = new Set(family);
  const groups = new Set(rows.filter(({ id }) => members.has(id)).map(({ group }) => group));
  // To the system, groups 0 and 1 are ours and everyone's.
  return [...groups].filter((group) => group > 1);
}
