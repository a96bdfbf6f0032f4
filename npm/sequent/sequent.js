#!/usr/bin/env node
// Runs the program of the package for this system: same arguments, input, output, signals and exit code.
"use strict";
const { spawn } = require("node:child_process");
const { isatty } = require("node:tty");

const name = `@sequent-dev/sequent-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/sequent${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  console.error(`sequent: the package ${name} is not installed; install @sequent-dev/sequent again, with optional dependencies and on this system`);
  process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// Keys on a terminal signal both processes; a signal sent twice would end the program at once.
const interactive = [0, 1, 2].some((fd) => isatty(fd));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => interactive && signal === "SIGINT" || child.kill(signal));
}
child.on("error", (error) => {
  console.error(`sequent: ${error.message}`);
  process.exitCode = 1;
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
