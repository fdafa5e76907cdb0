/** A tool call that depends on earlier answers. */
export interface Step {
  /** What an agent does in this step, in a word. */
  readonly what: string;
  readonly tool: string;
  readonly request: (earlier: Earlier) => Record<string, unknown>;
}

/** What later steps need from earlier answers; it is missing if the server did not report it. */
export interface Earlier {
  readonly sandboxId: string;
  readonly pictureUri: string;
}

const csv = `day,visits\n${Array.from({ length: 40 }, (_, day) => `${day + 1},${(day * 37) % 101}`).join("\n")}\n`;

const stats = (mean: string): string => `import csv

def visits(path):
    with open(path) as file:
        return [int(row["visits"]) for row in csv.DictReader(file)]

def mean(numbers):
    return ${mean}
`;

/** A picture of bars, made without any package; its bytes do not compress well. */
const plot = `import random, struct, zlib
from stats import visits
width, height, bars = 320, 200, visits("data.csv")
random.seed(1)
rows = b"".join(
    b"\\0" + bytes(c for x in range(width) for c in ((40, 90, 200) if height - y < bars[x // 8] * 2 else (random.randrange(240, 256),) * 3))
    for y in range(height))
chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
open("plot.png", "wb").write(b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
print("plot.png")`;

const tests = `import unittest
from stats import mean, visits

class Stats(unittest.TestCase):
    def test_mean(self):
        self.assertEqual(mean([1, 2, 3]), 2)
    def test_visits(self):
        self.assertEqual(len(visits("data.csv")), 40)
`;

const server = `import http.server, json
from stats import mean, visits

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({"mean": mean(visits("data.csv"))}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

http.server.HTTPServer(("127.0.0.1", 8000), Handler).serve_forever()
`;

const fetching = `import time, urllib.request
for _ in range(50):
    try:
        print(urllib.request.urlopen("http://127.0.0.1:8000/").read().decode())
        break
    except OSError:
        time.sleep(0.1)`;

const write = (path: string, content: string): Step => ({
  what: `write ${path}`,
  tool: "write_file",
  request: () => ({ path, content }),
});
/** Programs of a session are elsewhere than its files. */
const findsFiles = 'import sys; sys.path.append("/work")';
const python = (what: string, code: string): Step => ({
  what,
  tool: "run_code",
  request: () => ({ language: "python", code: `${findsFiles}\n${code}` }),
});

/** One piece of work as agents do it: they write, run, fix, show, test, serve and end it. */
export const steps: readonly Step[] = [
  write("data.csv", csv),
  write("stats.py", stats("sum(numbers) / len(number)")),
  python("run", "from stats import visits; print(len(visits('data.csv')), 'days')"),
  {
    what: "install",
    tool: "run_code",
    request: () => ({ language: "typescript", code: 'import ms from "ms";\nconsole.log(ms("2 days"));' }),
  },
  python("fail", "from stats import mean, visits\nprint(mean(visits('data.csv')))"),
  { what: "read what failed", tool: "read_file", request: () => ({ path: "stats.py" }) },
  write("stats.py", stats("sum(numbers) / len(numbers)")),
  python("run again", "from stats import mean, visits\nprint(round(mean(visits('data.csv')), 2))"),
  python("flood", "for line in range(3000):\n    print('line', line, 'of a long log')"),
  { what: "read its log", tool: "read_logs", request: ({ sandboxId: id }) => ({ id, tail: 20 }) },
  python("plot", plot),
  { what: "read the plot", tool: "read_file", request: () => ({ path: "plot.png" }) },
  { what: "look at it", tool: "view_artifact", request: ({ pictureUri: uri }) => ({ uri }) },
  write("test_stats.py", tests),
  python("test", "import subprocess\nsubprocess.run(['python3', '-m', 'unittest', '-v'])"),
  { what: "list files", tool: "list_files", request: () => ({}) },
  write("server.py", server),
  { what: "serve", tool: "start_process", request: () => ({ command: ["python3", "server.py"], ports: [8000] }) },
  python("fetch", fetching),
  { what: "end", tool: "end_session", request: () => ({}) },
];
