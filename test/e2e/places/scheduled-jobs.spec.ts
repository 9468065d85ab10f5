import { describeScheduledJobs } from './support/describe-scheduled-jobs.js';

describeScheduledJobs(2);
