#include "core/layout/compose/time_budget.h"

#include <algorithm>
#include <numeric>

#include "core/layout/workers.h"

namespace sonde::layout::compose {

std::vector<bool> TimeBudget::grant(const std::vector<const BoxGraph*>& graphs, bool last) {
    std::vector<double> cost;
    for (const BoxGraph* graph : graphs) cost.push_back(kSafetyFactor * LayoutWorkers::expectedMs(*graph, m_budget));
    std::vector<std::size_t> order(graphs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return cost[a] < cost[b]; });
    double share = last ? m_left : m_left / 2;
    std::vector<bool> granted(graphs.size(), false);
    for (const std::size_t i : order) {
        if (cost[i] > share) break;
        share -= cost[i];
        m_left -= cost[i];
        granted[i] = true;
    }
    return granted;
}

}  // namespace sonde::layout::compose
