#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/exec/edits.h"

namespace sonde::analysis {

/// What if: what is other than in the graph in a run that is compared.
struct RunEdits {
    std::shared_ptr<const exec::Edits> values = {};  ///< null: none at all
    /// What the inputs that a run is given become, in the order of graph->inputs(); null: they stay. Called on the
    /// thread that runs.
    std::function<base::Result<std::vector<tensor::Value>>(std::vector<tensor::Value>, const base::WorkContext&)>
        inputs = {};
    std::size_t count = 0;  ///< that the user made

    base::Result<std::vector<tensor::Value>> edited(std::vector<tensor::Value> given,
                                                    const base::WorkContext& work) const {
        if (!values || !inputs) return given;
        return inputs(std::move(given), work);
    }
};

}  // namespace sonde::analysis
