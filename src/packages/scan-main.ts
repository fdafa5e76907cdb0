import { text } from "node:stream/consumers";
import { scanFiles } from "./scan-files.ts";
import type { ScanRequest } from "./imported-packages.ts";

const request = JSON.parse(await text(process.stdin)) as ScanRequest;
process.stdout.write(JSON.stringify(await scanFiles(request)));
