// Votes of several models: weighted sums of their log posteriors, or of their posteriors.
import { exp, log } from "./math.mjs";
import { posterior } from "./posterior.mjs";

const LEAST = -1e3; // of a column that makes a class impossible
const NOTHING = 1e-9;

function open_members({ members }, ctx) {
  return members.map(({ name, weight, at, classes, scorer }) => ({ name, weight, at, scorer: ctx.scorer(scorer, classes.length, classes) }));
}

function mean(numbers) {
  let sum = 0;
  for (const each of numbers) sum += each;
  return sum / numbers.length;
}

function largest(numbers) {
  let most = 0;
  for (const each of numbers) most = Math.max(most, Math.abs(each));
  return most;
}

// What each column says to each member, weighted, less the mean over the classes (show/arithmetic.py, pool_factors). What
// a member says that is no sum over columns, and what the vote does not hear of it, are lines of their own.
function pool(members, said, { shifts, least }, K) {
  const lines = new Map(), scale = Math.max(...said.map(({ own }) => largest(own)));
  const line_of = (key, { column, of, name, value }) => {
    let line = lines.get(key);
    if (!line) lines.set(key, (line = { column, of, name, value, logs: new Float64Array(K), note: null, shares: members.map(() => new Float64Array(K)) }));
    return line;
  };
  const add = (m, line, logs) => {
    const middle = mean(logs), { weight } = members[m], share = line.shares[m];
    for (let k = 0; k < K; k++) share[k] += weight * (logs[k] - middle);
  };
  const alone = (name) => line_of(`\n${name}`, { column: null, of: null, name, value: "" });
  const prior = alone("prior"), own_of = new Float64Array(K);
  said.forEach(({ factors, own, heard }, m) => {
    const { at } = members[m], rest = Float64Array.from(own);
    factors.forEach((factor, number) => {
      if (factor.logs === null) return;
      for (let k = 0; k < K; k++) {
        own_of[k] = at[k] < 0 ? 0 : Math.max(factor.logs[at[k]], LEAST);
        rest[k] -= own_of[k];
      }
      add(m, number === 0 ? prior : line_of(`${factor.of ?? ""}\n${factor.name}`, factor), own_of);
    });
    if (Math.max(...rest) - Math.min(...rest) > NOTHING * (1 + scale)) add(m, alone("as a whole"), rest);
    if (heard.some((each, k) => each !== own[k])) add(m, alone(`no probability below ${exp(least).toPrecision(2)}`), heard.map((each, k) => each - own[k]));
  });
  for (const { logs, shares } of lines.values()) for (const share of shares) for (let k = 0; k < K; k++) logs[k] += share[k];
  const middle = mean(shifts), shift = { column: null, of: null, name: "shift", value: "", logs: shifts.map((each) => each - middle), note: null };
  const shifted = largest(shifts) > 0 ? [{ ...shift, shares: members.map(() => new Float64Array(K)) }] : [];
  const others = [...lines.values()].filter((line) => line !== prior && (line.value || line.shares.some((each) => largest(each) > NOTHING)));
  return [prior, ...shifted, ...others];
}

function vote(node, ctx) {
  const { shifts, least } = node, members = open_members(node, ctx), K = shifts.length;
  const opinion = (member, row) => {
    const { logs } = member.scorer.answer(row), own = Float64Array.from(member.at, (at) => (at < 0 ? least : logs[at]));
    return { own, heard: own.map((each) => (each >= least ? each : least)) };
  };
  const joint = (row) => {
    const out = Float64Array.from(shifts);
    for (const member of members) {
      const { heard } = opinion(member, row);
      for (let k = 0; k < K; k++) out[k] += member.weight * heard[k];
    }
    return out;
  };
  return {
    terms: [],
    additive: false,
    members: members.map(({ name, weight }) => ({ name, weight })),
    joint,
    answer(row) {
      const found = joint(row);
      return { joint: found, posterior: posterior(found, true), logs: posterior(found, false), before: null };
    },
    // Besides its logarithms, each has its `shares`: those of each member.
    factors: (row) => pool(members, members.map((member) => ({ ...opinion(member, row), factors: member.scorer.factors(row) })), node, K),
    // Each text as the member with the largest weight reads it.
    passages(row, best, second) {
      const found = new Map();
      for (const { weight, at, scorer } of [...members].sort((a, b) => a.weight - b.weight)) {
        if (at[best] < 0 || at[second] < 0) continue;
        const own = passages_of(scorer, row, at[best], at[second]);
        own.forEach(({ column, pieces }) => found.set(column, pieces.map(([text, odds]) => [text, odds === null ? null : weight * odds])));
      }
      return [...found].map(([column, pieces]) => ({ column, pieces }));
    },
  };
}

function passages_of(scorer, row, best, second) {
  if (scorer.passages) return scorer.passages(row, best, second);
  return scorer.terms.flatMap((term) => (term.passages ? term.passages(row, best, second) : []));
}

// The Bayes-optimal vote: the posteriors themselves, each weighted by how probable its model is.
function average(node, ctx) {
  const members = open_members(node, ctx), K = ctx.K;
  const shares = (row) =>
    members.map(({ at, scorer }) => {
      const { posterior: own } = scorer.answer(row);
      return Float64Array.from(at, (place) => (place < 0 ? 0 : own[place]));
    });
  const answer = (row) => {
    const out = new Float64Array(K);
    shares(row).forEach((own, m) => {
      for (let k = 0; k < K; k++) out[k] += members[m].weight * own[k];
    });
    return { joint: out.map(log), posterior: out, logs: out.map(log), before: null };
  };
  return {
    terms: [],
    additive: false,
    sums: true, // the amounts below are added, not their logarithms
    members: members.map(({ name, weight }) => ({ name, weight })),
    joint: (row) => answer(row).joint,
    answer,
    factors: (row) =>
      shares(row).map((own, m) => {
        const { name, weight } = members[m];
        return { column: null, of: null, name, value: "", logs: own.map((each) => weight * each), note: `weight ${weight.toPrecision(6)}` };
      }),
  };
}

export const scorers = { vote, average };
