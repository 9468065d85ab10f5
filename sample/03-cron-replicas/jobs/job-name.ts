/** The same job three times, so that one run shows what each line of code is for. */
export const JOB_NAMES = ['unlocked', 'locked', 'minHold'] as const;

export type JobName = (typeof JOB_NAMES)[number];
