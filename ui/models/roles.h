#pragma once

#include <QVariant>
#include <Qt>
#include <QtGlobal>

namespace sonde::models {

/// What rows of all models tell besides their text.
enum Role {
    NodeRole = Qt::UserRole + 1,  ///< uint: the node's number; invalid if the row is of no node
    QualnameRole,                 ///< QString: the module's qualname
    SortRole,                     ///< number or text to sort by
    SeverityRole,                 ///< int of base::Severity: the row has something bad about it
    MutedRole,                    ///< bool: of no use now (not reached, not visited)
    ExprRole,                     ///< uint: the expr's number
    OperatorRole,                 ///< QString: the operator's name
    CurrentRole,                  ///< int: 1 the debugged run is at it, 2 at something below it
    HistoryRole,                  ///< QVariantList of numbers, oldest first, invalid where there was none
    ErrorColumnRole,              ///< int: the character that an error is about, from 1
    PointRole,                    ///< QString: the icon of breakpoints at this row
    PointBelowRole,               ///< bool: they are at something below it
    ExportRole,                   ///< text for a program; invalid: the same as for people
};

/// Of cells, and of the head of their column: numbers are compared from the right.
inline QVariant alignment(bool isNumber) { return isNumber ? QVariant(Qt::AlignRight | Qt::AlignVCenter) : QVariant(); }

}  // namespace sonde::models
