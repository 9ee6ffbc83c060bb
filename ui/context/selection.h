#pragma once

#include <QMetaType>
#include <QString>

#include "core/graph/ids.h"

namespace sonde::context {

using graph::ExprId;
using graph::NodeId;
using graph::ScopeId;

/// What is pointed at: a value, an operation without a value of its own (the Output), one call of a module, or a module
/// that was never called.
struct Selection {
    enum class Kind { None, Node, Expr, Scope, Module };

    Kind kind = Kind::None;
    NodeId node;       ///< Node
    ExprId expr;       ///< Node: what makes it. Expr: itself
    ScopeId scope;     ///< Node, Expr: where it stands. Scope: itself
    QString qualname;  ///< Node, Expr: originating module, may be null. Scope, Module: the module's; "" is the root

    bool isNone() const { return kind == Kind::None; }
    bool isModule() const { return kind == Kind::Scope || kind == Kind::Module; }
    bool operator==(const Selection&) const = default;
};

}  // namespace sonde::context

Q_DECLARE_METATYPE(sonde::context::Selection)
