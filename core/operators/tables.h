#pragma once

#include <span>
#include <string_view>

#include "core/operators/traits.h"

namespace sonde::operators {

/// Operators that have the same traits. Each name stands in one row of its domain only (tst_traits).
struct Row {
    std::string_view names;  ///< separated by spaces, without overloads
    Traits traits;
};

// Families of operators, one file each.
std::span<const Row> elementwiseRows();      ///< aten
std::span<const Row> layerRows();            ///< aten
std::span<const Row> viewRows();             ///< aten
std::span<const Row> creationRows();         ///< aten: new tensors, random numbers, writes, checks
std::span<const Row> dataRows();             ///< aten: reductions, joins, gathers, scatters
std::span<const Row> pythonRows();           ///< prim
std::span<const Row> onnxRows();             ///< ai.onnx
std::span<const Row> previewRows();          ///< ai.onnx.preview
std::span<const Row> previewTrainingRows();  ///< ai.onnx.preview.training
std::span<const Row> contribRows();          ///< com.microsoft
std::span<const Row> ownRows();              ///< sonde

}  // namespace sonde::operators
