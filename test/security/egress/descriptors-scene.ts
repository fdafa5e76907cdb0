/** Starts a proxy and prints what its descriptors are. */
import { readdirSync, readlinkSync } from "node:fs";
import { ProxySubject } from "../../helpers/proxy-subject.ts";

await using proxy = await ProxySubject.start({ dnsServer: "127.0.0.1:9" });
const folder = `/proc/${proxy.pid}/fd`;
process.stdout.write(`${JSON.stringify(readdirSync(folder).map((name) => readlinkSync(`${folder}/${name}`)))}\n`);
