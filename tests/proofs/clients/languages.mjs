/** The languages of docs/other-languages.md, and how the sample of each is run with the client that its generator wrote. */
import { globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { find, run } from "../../../scripts/lib/run.mjs";

/**
 * A language. `block`: the language of its code blocks; `file`: the file of the sample; `id`: the expression in the sample's get, which
 * the proof replaces; `needs`: programs; `package`: what Debian calls the programs and libraries; `prepare` makes the generated
 * client usable; `sample` runs the sample in its folder and returns its output.
 * @typedef {{java: string, jar: string, go: string, python: string, packages: string, env: NodeJS.ProcessEnv}} Programs
 * @typedef {{folder: string, programs: Programs}} Project
 * @typedef {{name: string, block: string, file: string, id: string, needs: string[], install: string, prepare?: (project: Project) => Promise<unknown> | void, sample: (project: Project, env: NodeJS.ProcessEnv) => Promise<string>}} Language
 */

const RUN_MS = 300_000; // a first compilation of Go's standard library on a busy machine

/** Runs a program in the project's folder. */
const inFolder = (command, args, { folder }, env) =>
  run(command, args, { cwd: folder, env, timeout: RUN_MS });

/** Lets PHP load the generated classes and Guzzle, as composer would. */
const AUTOLOAD = `<?php
require "GuzzleHttp/autoload.php";
spl_autoload_register(function ($name) {
    $file = __DIR__ . "/../pledges/lib/" . strtr(substr($name, strlen("Pledges\\\\")), "\\\\", "/") . ".php";
    if (str_starts_with($name, "Pledges\\\\") && is_file($file)) require $file;
});
`;

/** Stands in for a jar that only marks generated classes. */
const GENERATED = `package javax.annotation;
public @interface Generated { String[] value(); String date() default ""; String comments() default ""; }
`;

/** @param {string} folder @param {string} file @param {string} text */
function write(folder, file, text) {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

/** @type {Language[]} */
export const LANGUAGES = [
  {
    name: "Python",
    block: "python",
    file: "pledge.py",
    id: "made.parsed.id",
    needs: [],
    install: "",
    sample: (project, env) => inFolder(project.programs.python, ["pledge.py"], project, env),
  },
  {
    name: "TypeScript",
    block: "ts",
    file: "pledge.ts",
    id: "id",
    needs: [],
    install: "",
    prepare: ({ folder }) => write(folder, "package.json", '{ "type": "module" }'),
    sample: async (project, env) => {
      const strict = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext"];
      const tsc = join(project.folder, "node_modules/typescript/bin/tsc");
      const options = [...strict, "--target", "es2022", "--allowImportingTsExtensions"];
      await inFolder(process.execPath, [tsc, ...options, "pledge.ts"], project, env);
      return inFolder(process.execPath, ["--no-warnings", "pledge.ts"], project, env);
    },
  },
  {
    name: "PHP",
    block: "php",
    file: "pledge.php",
    id: "$made->getId()",
    needs: ["php", "java"],
    install: "php-cli php-curl php-mbstring php-guzzlehttp-guzzle default-jre-headless",
    prepare: ({ folder }) => write(folder, "vendor/autoload.php", AUTOLOAD),
    sample: (project, env) => inFolder("php", ["pledge.php"], project, env),
  },
  {
    name: "Go",
    block: "go",
    file: "pledge.go",
    id: "made.Id",
    needs: ["java"],
    install: "default-jre-headless",
    prepare: ({ folder }) => {
      for (const file of ["go.mod", "go.sum", "test"])
        rmSync(join(folder, "pledges", file), { recursive: true, force: true });
      write(folder, "go.mod", "module example.org/shop\n\ngo 1.23\n");
    },
    sample: (project, env) =>
      inFolder(project.programs.go, ["run", "."], project, {
        ...env,
        GOPROXY: "off",
        GOFLAGS: "-mod=mod",
      }),
  },
  {
    name: "Ruby",
    block: "ruby",
    file: "pledge.rb",
    id: "made.id",
    needs: ["ruby", "java"],
    install: "ruby ruby-typhoeus default-jre-headless",
    sample: (project, env) => inFolder("ruby", ["-Ipledges/lib", "pledge.rb"], project, env),
  },
  {
    name: "Java",
    block: "java",
    file: "Pledge.java",
    id: "made.getId()",
    needs: ["java", "javac"],
    install: "default-jdk-headless",
    prepare: (project) => {
      const { folder, programs } = project;
      write(folder, "stub/javax/annotation/Generated.java", GENERATED);
      const sources = globSync("{stub,pledges/src/main}/**/*.java", { cwd: folder });
      const args = ["-nowarn", "-d", "classes", "-cp", programs.jar, ...sources];
      return inFolder("javac", args, project, programs.env); // the generator's jar has Jackson
    },
    sample: (project, env) => {
      const path = ["classes", project.programs.jar].join(delimiter);
      return inFolder("java", ["-cp", path, "Pledge.java"], project, env);
    },
  },
];

/** Returns the programs of a language that this machine lacks. @param {Language} language */
export const missing = ({ needs }) => needs.filter((name) => !find(name));
