export { startReview, type Review, type ReviewOptions } from './start-review.ts';
