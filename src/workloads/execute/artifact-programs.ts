/** What `listScript` does, for Node: the folder is the first argument. */
export const listProgram = `
const fs = require("node:fs");
process.chdir(process.argv[1]);
const found = [];
const walk = (folder) => {
  let entries;
  try {
    entries = fs.readdirSync(folder, { withFileTypes: true, encoding: "buffer" });
  } catch {
    return;
  }
  for (const entry of entries) {
    const path = Buffer.concat([folder, Buffer.from("/"), entry.name]);
    if (entry.isDirectory()) walk(path);
    else if (entry.isFile()) found.push(path, Buffer.from("\\0"));
  }
};
walk(Buffer.from("."));
fs.writeFileSync(1, Buffer.concat(found));
`;

/** What `readScript` does, for Node: the folder, the largest size of one file and of all, then the paths. */
export const readProgram = `
const fs = require("node:fs");
const [folder, each, all, ...paths] = process.argv.slice(1);
process.chdir(folder);
let left = Number(all);
const readable = (path) => {
  try {
    fs.accessSync(path, fs.constants.R_OK);
    return true;
  } catch {
    return false;
  }
};
const look = (path) => {
  try {
    const stat = fs.lstatSync(path);
    if (!stat.isFile()) return "-\\n";
    if (!readable(path)) return "!\\n";
    if (stat.size > Number(each) || stat.size > left) return stat.size + "\\n";
    const bytes = fs.readFileSync(path).subarray(0, stat.size);
    left -= bytes.length;
    return stat.size + "\\n" + (bytes.length === 0 ? "" : bytes.toString("base64") + "\\n");
  } catch {
    return "-\\n";
  }
};
for (const path of paths) fs.writeFileSync(1, look(path) + ".\\n");
`;
