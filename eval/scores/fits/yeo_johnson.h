// The power transformation of Yeo and Johnson (2000), which makes a variable look more like a normal one.
#ifndef OPENSET_EVAL_SCORES_FITS_YEO_JOHNSON_H_
#define OPENSET_EVAL_SCORES_FITS_YEO_JOHNSON_H_

#include "Eigen/Core"

namespace openset {

// ((1 + x)^lambda - 1) / lambda for x >= 0 (ln(1 + x) if lambda is 0);
// -((1 - x)^(2 - lambda) - 1) / (2 - lambda) for x < 0 (-ln(1 - x) if lambda is 2).
double YeoJohnson(double x, double lambda);

// The lambda that maximises the likelihood of the transformed values under a normal distribution, as in scikit-learn's
// PowerTransformer: the root of the log likelihood's derivative in [-64, 64] (an end if there is none). 1 if all values
// are equal except for rounding.
double LikeliestYeoJohnsonLambda(const Eigen::VectorXd& values);

// x -> ((YeoJohnson((x - mean) / deviation) - mean') / deviation'), with the mean and population standard deviation of
// the fitted values before and after YeoJohnson: scikit-learn's StandardScaler, then its PowerTransformer. A deviation
// of 0 counts as 1.
class PowerTransform {
 public:
  explicit PowerTransform(const Eigen::VectorXd& values);
  double operator()(double x) const;

 private:
  struct Standard {
    double mean = 0;
    double deviation = 1;
  };
  static Standard StandardOf(const Eigen::VectorXd& values);

  Standard before_, after_;
  double lambda_ = 1;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_FITS_YEO_JOHNSON_H_
