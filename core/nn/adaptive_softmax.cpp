#include "core/nn/adaptive_softmax.h"

#include <algorithm>
#include <cmath>

#include "core/nn/functional.h"

namespace sonde::nn {

AdaptiveLogSoftmaxWithLoss::AdaptiveLogSoftmaxWithLoss(std::int64_t inFeatures, std::int64_t classes, Ints cutoffs,
                                                       AdaptiveSoftmaxOptions options)
    : Layer("AdaptiveLogSoftmaxWithLoss"), m_cutoffs(std::move(cutoffs)) {
    m_cutoffs.push_back(classes);
    const bool rises = std::ranges::adjacent_find(m_cutoffs, std::ranges::greater_equal()) == m_cutoffs.end();
    if (m_cutoffs.size() < 2 || m_cutoffs.front() < 1 || !rises) {
        throw trace::TraceError(trace::TraceErrorKind::Value,
                                "cutoffs should be rising numbers between 1 and the number of classes");
    }
    const auto clusters = static_cast<std::int64_t>(m_cutoffs.size()) - 1;
    m_head = add("head", std::make_shared<Linear>(inFeatures, m_cutoffs.front() + clusters, options.headBias));
    m_tail = add("tail", std::make_shared<ModuleList>());
    for (std::size_t i = 0; i + 1 < m_cutoffs.size(); ++i) {
        const auto inside = static_cast<std::int64_t>(
            std::floor(static_cast<double>(inFeatures) / std::pow(options.divisor, static_cast<double>(i + 1))));
        m_tail->append(std::make_shared<Sequential>(std::vector<std::shared_ptr<Module>>{
            std::make_shared<Linear>(inFeatures, inside, false),
            std::make_shared<Linear>(inside, m_cutoffs[i + 1] - m_cutoffs[i], false)}));
    }
}

Var AdaptiveLogSoftmaxWithLoss::logProb(const Var& x) const {
    const Var head = logSoftmax((*m_head)(x), 1);
    std::vector<Var> parts{narrow(head, 1, 0, m_cutoffs.front())};
    for (std::size_t i = 0; i < m_tail->size(); ++i) {
        const Var cluster = narrow(head, 1, m_cutoffs.front() + static_cast<std::int64_t>(i), 1);
        parts.push_back(logSoftmax((*m_tail)[i](x), 1) + cluster);
    }
    return cat(std::move(parts), 1);
}

Var AdaptiveLogSoftmaxWithLoss::predict(const Var& x) const {
    return trace::callFunction(trace::Function{"argmax", "argmax", "torch.argmax"}, {logProb(x), 1});
}

Var AdaptiveLogSoftmaxWithLoss::forward(std::span<const Var> in) {
    // One example alone is a batch of one.
    const Var x = view(in[0], {-1, size(in[0], -1)});
    const Var wanted = view(in[1], {-1, 1});
    const Var found = trace::callMethod(trace::Function{"gather", "gather", "gather"}, {logProb(x), 1, wanted});
    const Var output = trace::callMethod(trace::Function{"view_as", "view_as", "view_as"}, {found, in[1]});
    return Var::tuple({output, -trace::callMethod(trace::Function{"mean", "mean", "mean"}, {output})});
}

}  // namespace sonde::nn
