export const terms = {};
export const scorers = {};
