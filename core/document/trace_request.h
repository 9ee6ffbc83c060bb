#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/document/document_types.h"
#include "core/tensor/dim_size_hint.h"
#include "core/trace/tracer.h"

namespace sonde::document {

/// What the reader of a model made of modules knows of its inputs; names are forward's parameters.
struct KnownInput {
    std::string name;
    tensor::TypeInfo type;
    bool isGuide = false;             ///< the type is what the layers want
    tensor::DimSizeHints usual = {};  ///< what an example should have where the type is open
};

/// Whether a parameter takes a value of the user: it has no default, or the model lists it among its inputs although
/// its default is None.
bool takesValue(const trace::ForwardParameter& parameter, const std::vector<KnownInput>& inputs);

/// What a tracer is given.
struct TraceRequest {
    std::shared_ptr<trace::Module> root;
    const OpenOptions& options;
    trace::ConcreteArguments concrete;  ///< values of options.concrete
    const base::WorkContext& work;
    std::vector<KnownInput> inputs = {};  ///< by name; what is not there is not known
};

/// What a tracer made.
struct TracedGraph {
    trace::Tracer::GraphPtr graph;
    graph::ModuleTree tree;
    std::vector<Part> parts;  ///< see Document::parts
    base::Diagnostics diagnostics;
    std::string text = {};                                         ///< see Document::text
    std::shared_ptr<const trace::TracedModule> tracedModule = {};  ///< see Document::tracedModule
};

}  // namespace sonde::document
