#!/usr/bin/env node
// Starts the command line. Its pieces lie in cli/; beside each is what V8 compiled of it when it was built, so that a
// start compiles nothing. A Node that is not the one of the build refuses that and compiles the piece as usual.
'use strict';
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { Script } = require('node:vm');

const pieces = new Map();

function load(name) {
  const known = pieces.get(name);
  if (known) return known.exports;
  const piece = { exports: {} };
  pieces.set(name, piece);
  const filename = join(__dirname, 'cli', name);
  try {
    const script = new Script(readFileSync(filename, 'utf8'), { filename, cachedData: compiled(filename) });
    script.runInThisContext()(piece, piece.exports, requireFrom, __filename, __dirname);
  } catch (error) {
    pieces.delete(name);
    throw error;
  }
  return piece.exports;
}

function requireFrom(name) {
  return name.startsWith('./') ? load(name.slice(2)) : require(name);
}

function compiled(filename) {
  try {
    return readFileSync(`${filename}.cache`);
  } catch {
    return undefined;
  }
}

load('entry.js');
