#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/error.h"
#include "core/trace/module.h"
#include "core/trace/naming.h"
#include "core/trace/value_oracle.h"
#include "core/trace/var.h"

namespace sonde::trace {

/// What a trace decides, as opposed to how it is recorded: derived tracers override what they decide otherwise. The
/// defaults are those of fx (symbolic-trace.md).
class TracePolicy {
  public:
    virtual ~TracePolicy() = default;

    // Modules.
    /// One call in the graph, and not the operations of its forward.
    virtual bool isLeafModule(const Module& module, std::string_view path) const {
        (void)path;
        return module.isLibrary();
    }
    /// Asked when the forward of a traced-through module throws; true: the module becomes an opaque call instead.
    virtual bool absorbs(const Module& module, const TraceError& error) {
        (void)module, (void)error;
        return false;
    }
    /// A module is called in the main body (what a leaf calls inside of it does not count).
    virtual void moduleSeen(const Module& module) { (void)module; }

    // Values that a program asks for.
    /// Questions about values may be answered: decisions that depend on the data need not be recorded as such.
    virtual bool knowsValues() const { return false; }
    /// The value of a node, for tracers that know it, or an answer that says enough. Overriders may record that it was
    /// asked for, or throw another TraceError than the usual one.
    virtual std::optional<tensor::Value> known(graph::NodeId node, KnownUse use) {
        (void)node, (void)use;
        return std::nullopt;
    }
    /// Reads of attributes (`x.shape`) and calls of methods (`x.size(0)`) that need no node; nothing: they are
    /// recorded.
    virtual std::optional<Var> answer(std::string_view name, bool isCall, const std::vector<Var>& arguments) {
        (void)name, (void)isCall, (void)arguments;
        return std::nullopt;
    }

    // Writes and names.
    /// In-place methods change what later uses of their receiver mean (needed for right values).
    virtual bool followsInPlace() const { return true; }
    /// `x[i] = v` of a proxy may be recorded. If not, it is the TypeError that fx raises.
    virtual bool recordsSetItem() const { return false; }
    /// The name of a new node of the main body.
    virtual std::string makeName(FxNames& names, std::string_view candidate) {
        return names.unique(nameCandidate(candidate));
    }
};

}  // namespace sonde::trace
