#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/document/trace_request.h"
#include "core/trace/concrete_run.h"

namespace sonde::document {

/// Example values of forward's parameters by name, made of options.inputData (of its first case); those that --concrete
/// fixes and those with a default need none. Empty if there is no inputData. Errors are those of the specification.
base::Result<std::map<std::string, tensor::Value>> exampleInputs(const TraceRequest& request);

/// "int64[batch,time] (2 dimensions)". A type without a shape is a scalar's.
std::string typeAndRank(const tensor::TypeInfo& type);

/// "the layers take int64[batch,time] (2 dimensions) for input 'idx', the example is int64[3]": one for each input
/// whose type is known of the layers alone, where the example has another rank or another size of a dimension that they
/// fix. Such data is the model's own affair, unless it fails.
std::vector<std::string> examplesApart(const TraceRequest& request);

/// The values that parameters are fixed to: those of --concrete, and None for a parameter whose default it is and that
/// takes no value of the user. A forward asks whether it is None, which a symbolic value is not.
trace::ConcreteArguments withAbsent(const TraceRequest& request);

/// Lets a tracer follow the request's example through decisions that depend on the data; null if there is no example.
/// When the trace is over, ConcreteRun::finish gives the graph the types of the example.
base::Result<std::shared_ptr<trace::ConcreteRun>> followExample(trace::Tracer& tracer, const TraceRequest& request);

}  // namespace sonde::document
