#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "core/ops/support/row.h"

namespace sonde::ops {

/// A row of domain prim (Python's own operators, nodes of the scripted language) from a schema as atenRow reads it. Its
/// inputs may be values of any kind.
inline OpDef primRow(std::string_view schema, std::string_view summary, Category category,
                     std::function<base::Result<void>(KernelContext&)> kernel,
                     std::function<base::Result<void>(InferContext&)> infer = {}) {
    OpDef def = atenRow(schema, summary, category, std::move(kernel), std::move(infer));
    def.domain = "prim";
    for (Formal& input : def.inputs) input.tensorOnly = false;
    return def;
}

/// One whose inputs and outputs are named one by one: any number of them may be there.
inline Row primRow(std::string_view name, std::string_view summary, Category category) {
    Row row(name, 1, summary, category);
    row.domain("prim").strided();
    return row;
}

}  // namespace sonde::ops
