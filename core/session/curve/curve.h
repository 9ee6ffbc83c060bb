#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/document/document.h"
#include "core/session/curve/curve_range.h"
#include "core/session/read_inputs.h"

namespace sonde::session {

/// Time and memory of a model's runs against one number. By its key that number is, the first that fits:
///   threads     of the runner
///   watches     how many values are watched: of nodes of the main body, evenly over it
///   a setting   of a built-in model ("width", "layers"): a model of its own for each point
///   an open dimension of the inputs, by its name ("batch", "N"): of all inputs that have it
///   INPUT.AXIS  a dimension of one input, whose rank is known ("x.0")
///   batch       axis 0 of every input that is a tensor of known rank above 0
struct CurveRequest {
    std::string model;        ///< as for document::open()
    CurveRange range;         ///< whole numbers above 0, but for settings; watches and threads from 0
    InputData inputs;         ///< must leave the dimension open: #rand(0,1), #zeros
    std::size_t threads = 0;  ///< 0: one per processor
    std::size_t repeat = 15;  ///< timed runs for each point
    bool watchAll = false, exact = false;
    /// Opens a model; called once, or once for each point where settings change.
    std::function<base::Result<std::shared_ptr<const document::Document>>(const std::string& model)> open;
};

struct CurvePoint {
    double at = 0;
    std::size_t threads = 0;                          ///< that were used
    std::int64_t medianNs = 0, minNs = 0, maxNs = 0;  ///< of the timed runs
    std::int64_t valueBytes = 0;  ///< most that values take at a time in a run (exec::rowMemory); no weights, no inputs
    std::optional<std::int64_t> grownBytes;  ///< growth of the process' memory during the runs; none: not told
};

struct Curve {
    std::string title;  ///< of the model
    std::string key;
    std::string what;  ///< the number, for a person: "axis 0 of all inputs"
    std::size_t repeat = 0;
    std::vector<CurvePoint> points;
};

/// Measures point by point, and tells each as soon as it is there. Blocks. Errors: of opening, of the inputs, of a run,
/// with "at KEY=NUMBER"; Usage for a key that means nothing to the model, with what there is, and for a number that
/// cannot be such a size; Cancelled.
base::Result<Curve> measureCurve(const CurveRequest& request, const std::function<void(const CurvePoint&)>& told,
                                 const base::WorkContext& work = {});

/// The exponent e of the power law a·KEY^e that is nearest to a value over the points (least squares of logarithms);
/// none with fewer than two numbers above 0, or where a value is not above 0.
std::optional<double> growthExponent(const Curve& curve, const std::function<double(const CurvePoint&)>& value);

/// A picture: time (median, with a bar from the least to the most) and memory of values, both from 0, against the
/// number. Black on white; the same curve gives the same bytes.
std::string curveSvg(const Curve& curve);

}  // namespace sonde::session
