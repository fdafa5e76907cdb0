import { ask, type RunnerQuestion } from "./question.ts";

const pytest = (body: string): Record<string, string> => ({
  "test_a.py": `import os\nimport sys\nimport pytest\n\ndef test_first():\n    pass\n\n${body}\n`,
  "test_b.py": "def test_other():\n    pass\n",
});
const unittest = (body: string): Record<string, string> => ({
  "test_a.py": `import io\nimport os\nimport unittest\n\nclass A(unittest.TestCase):\n    def test_a_first(self):\n        pass\n\n${body}\n`,
  "test_b.py": "import unittest\n\nclass B(unittest.TestCase):\n    def test_other(self):\n        pass\n",
});
const go = (a: string): Record<string, string> => ({
  "go.mod": "module example.com/m\n\ngo 1.21\n",
  "a/a_test.go": `package a\n\n${a}\n`,
  "b/b_test.go": 'package b\n\nimport "testing"\n\nfunc TestOther(t *testing.T) {}\n',
});
const cargo = (a: string): Record<string, string> => ({
  "Cargo.toml": '[package]\nname = "m"\nversion = "0.1.0"\nedition = "2021"\n',
  "src/lib.rs": "#[test]\nfn first() {}\n",
  "tests/a.rs": a,
  "tests/b.rs": "#[test]\nfn other() {}\n",
});

export const otherQuestions: readonly RunnerQuestion[] = [
  ...ask("pytest", "python3 -m pytest -q", [
    {
      question: "exit",
      files: pytest("def test_ends():\n    pytest.exit('enough', returncode=0)\n\ndef test_last():\n    assert False"),
      verdict: "could_not_run",
      passed: 1,
    },
    {
      question: "exit",
      files: {
        ...pytest("def test_ends():\n    pass"),
        "conftest.py":
          "import pytest\n\ndef pytest_runtest_teardown(item):\n    if item.name == 'test_ends':\n        pytest.exit('enough', returncode=0)\n",
      },
      verdict: "could_not_run",
      passed: 2,
    },
    { question: "exit", files: pytest("def test_ends():\n    os._exit(0)"), verdict: "could_not_run", passed: null },
    { question: "load", files: pytest("os._exit(0)"), verdict: "could_not_run", passed: null },
    { question: "load", files: pytest("pytest.exit('no', returncode=0)"), verdict: "failed", passed: 0 },
    { question: "empty", files: { "README.md": "" }, verdict: "nothing_ran", passed: 0 },
    {
      question: "empty",
      files: { "test_a.py": "import pytest\n\npytest.skip('not here', allow_module_level=True)\n" },
      verdict: "nothing_ran",
      passed: 0,
    },
    {
      question: "pattern",
      files: pytest(""),
      command: "python3 -m pytest -q -k nothing",
      verdict: "nothing_ran",
      passed: 0,
    },
    {
      question: "nested",
      files: {
        ...pytest("def test_runs():\n    assert pytest.main(['-q', 'inner.py']) == 1"),
        "inner.py": "def test_inner():\n    assert False\n",
      },
      verdict: "passed",
      passed: 3,
    },
    {
      question: "fork",
      files: pytest("def test_forks():\n    if os.fork():\n        os._exit(0)"),
      verdict: "could_not_run",
      passed: 3,
    },
    { question: "line", files: pytest("def test_prints():\n    os.write(1, b'x')"), verdict: "passed", passed: 3 },
  ]),
  ...ask("unittest", "python3 -m unittest", [
    {
      question: "exit",
      files: unittest("    def test_ends(self):\n        os._exit(0)"),
      verdict: "could_not_run",
      passed: null,
    },
    {
      question: "exit",
      files: unittest(
        "    def run(self, result=None):\n        super().run(result)\n        result.stop()\n\n    def test_last(self):\n        self.fail()",
      ),
      verdict: "could_not_run",
      passed: 1,
    },
    { question: "load", files: unittest("os._exit(0)"), verdict: "could_not_run", passed: null },
    { question: "empty", files: { "README.md": "" }, verdict: "nothing_ran", passed: 0 },
    {
      question: "pattern",
      files: unittest(""),
      command: "python3 -m unittest -k nothing",
      verdict: "nothing_ran",
      passed: 0,
    },
    {
      question: "nested",
      files: unittest(
        "    def test_runs(self):\n        class Inner(unittest.TestCase):\n            def runTest(self):\n                self.fail()\n        result = unittest.TextTestRunner(stream=io.StringIO()).run(Inner())\n        self.assertEqual(len(result.failures), 1)",
      ),
      verdict: "passed",
      passed: 3,
    },
    {
      question: "fork",
      files: unittest("    def test_forks(self):\n        if os.fork():\n            os._exit(0)"),
      verdict: "could_not_run",
      passed: null,
    },
    {
      question: "line",
      files: unittest("    def test_prints(self):\n        os.write(1, b'x')"),
      verdict: "passed",
      passed: 3,
    },
  ]),
  ...ask("go", "go test ./...", [
    {
      question: "exit",
      files: go('import (\n\t"os"\n\t"testing"\n)\n\nfunc TestEnds(t *testing.T) { os.Exit(0) }'),
      verdict: "failed",
      passed: 1,
    },
    {
      question: "load",
      files: go(
        'import (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(0) }\n\nfunc TestNever(t *testing.T) { t.Fatal() }',
      ),
      verdict: "could_not_run",
      passed: 1,
    },
    {
      question: "pattern",
      files: go('import "testing"\n\nfunc TestFirst(t *testing.T) {}'),
      command: "go test -run Nothing ./...",
      verdict: "nothing_ran",
      passed: 0,
    },
    {
      question: "line",
      files: go('import (\n\t"fmt"\n\t"testing"\n)\n\nfunc TestPrints(t *testing.T) { fmt.Print("x") }'),
      command: "go test -v ./...",
      verdict: "passed",
      passed: 2,
    },
  ]),
  ...ask("cargo", "cargo test --no-fail-fast", [
    {
      question: "exit",
      files: cargo("#[test]\nfn ends() { std::process::exit(0) }\n"),
      verdict: "could_not_run",
      passed: 2,
    },
    {
      question: "worker",
      files: cargo("#[test]\nfn ends() { std::process::exit(1) }\n"),
      verdict: "failed",
      passed: 2,
    },
    {
      question: "pattern",
      files: cargo("#[test]\nfn a() {}\n"),
      command: "cargo test nothing",
      verdict: "nothing_ran",
      passed: 0,
    },
    { question: "line", files: cargo('#[test]\nfn a() { print!("x"); }\n'), verdict: "passed", passed: 3 },
  ]),
];
