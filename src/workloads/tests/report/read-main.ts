import { buffer } from "node:stream/consumers";
import { summariseReports, type ReportsHeader } from "./summarise-reports.ts";

const input = await buffer(process.stdin);
const end = input.indexOf(10);
const header = JSON.parse(input.toString("utf8", 0, end)) as ReportsHeader;
let at = end + 1;
const texts = header.reports.map(({ sizeBytes }) => input.toString("utf8", at, (at += sizeBytes)));
const { summary, ctrf, junit, packed } = summariseReports(header, texts);
process.stdout.write(`${JSON.stringify(summary)}\n${ctrf}${junit}`);
process.stdout.write(packed);
