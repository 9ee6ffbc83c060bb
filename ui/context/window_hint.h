#pragma once

#include <QString>

#include <string>
#include <vector>

#include "core/base/error.h"

namespace sonde::context {

// Errors of core are written for the command line, too: their places may be options, their hints name options and
// verbs. Whatever of an error comes into the window comes through here. UI thread only.

/// What the window offers in place of an option or a verb ("--tracer", "sonde models").
struct CommandAdvice {
    QString command;
    QString advice;  ///< what to do here instead: "choose another tracer in …"
};

/// Adds what a part of the window offers. Commands that are known already are left as they are.
void addAdvice(const std::vector<CommandAdvice>& advice);

/// An error: "WHAT (WHERE)", then one line per note. Its hint is not in it.
QString windowText(const base::Error& error);

/// The same with the hint behind a semicolon, for places that have room for one text.
QString windowTextWithHint(const base::Error& error);

/// A hint of core in the words of the window. Its clauses are separated by "; ". In those that name an option or a verb
/// of the command line, the advice of the window stands in their place; options of an export have the names of the
/// export dialog ("File › Format"). A clause that cannot be said so is left out. May be empty.
QString windowHint(const std::string& hint);

/// Where an error is. An option of an export has its name in the export dialog; another option is no place here: empty.
QString windowPlace(const std::string& where);

}  // namespace sonde::context
