#pragma once

#include "core/nn/containers.h"
#include "core/nn/linear.h"

namespace sonde::nn {

/// What has defaults of torch.
struct AdaptiveSoftmaxOptions {
    double divisor = 4;  ///< how much narrower each cluster's inside is than the one before it
    bool headBias = false;
};

/// Softmax over many classes of which the frequent ones come first (Grave et al. 2017, arXiv:1609.04309): a head over
/// the first cutoffs[0] classes and one number for each cluster of the rest, and for cluster i a narrow product of its
/// own: ln p(c) = ln p_head(cluster) + ln p_i(c).  x [N,D] or [D], target [N] or [] -> (ln p of each target [N], -mean
/// of them).
class AdaptiveLogSoftmaxWithLoss : public Layer {
  public:
    /// `cutoffs` rise and lie below `classes`. Throws TraceError (ValueError) for others.
    AdaptiveLogSoftmaxWithLoss(std::int64_t inFeatures, std::int64_t classes, Ints cutoffs,
                               AdaptiveSoftmaxOptions options = {});
    std::vector<ForwardParameter> signature() const override {
        return {{"input", {}, false, true}, {"target", {}, false, true}};
    }
    bool makesTensor() const override { return false; }
    Var forward(std::span<const Var> in) override;
    /// Of all classes: x [N,D] -> [N,classes].
    Var logProb(const Var& x) const;
    /// The most probable class: x [N,D] -> [N].
    Var predict(const Var& x) const;

  private:
    Ints m_cutoffs;  ///< with the number of classes at the end
    std::shared_ptr<Linear> m_head;
    std::shared_ptr<ModuleList> m_tail;
};

}  // namespace sonde::nn
