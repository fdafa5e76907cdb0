import { text } from "node:stream/consumers";
import { walkTree, type TreeWalk } from "./walk-tree.ts";

process.stdout.write(JSON.stringify(walkTree(JSON.parse(await text(process.stdin)) as TreeWalk)));
