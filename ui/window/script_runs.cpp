// The commands of window scripts that begin another run of the model: bisect, piece, precision.

#include <QDir>

#include "ui/context/bisection.h"
#include "ui/context/engine.h"
#include "ui/context/precision.h"
#include "ui/window/main_window.h"
#include "ui/window/script_verbs.h"

namespace sonde::window {

using base::Result;
using base::usageError;

namespace {

bool isNumberType(const QString& word) { return session::precision::numberType(word.toStdString()).has_value(); }

/// "int8 per-channel at op:Conv": the words before " at ", and the query.
std::pair<QStringList, QStringList> typeAndQuery(const QString& text) {
    const qsizetype at = text.indexOf(QLatin1String(" at "));
    const QStringList words = text.left(at < 0 ? text.size() : at).split(u' ', Qt::SkipEmptyParts);
    return {words, at < 0 ? QStringList() : QStringList{text.mid(at + 4).trimmed()}};
}

}  // namespace

Result<void> ScriptVerbs::bisect(const QString& with) {
    using Kind = context::Bisection::Wanted::Kind;
    context::Bisection& bisection = m_window.context().bisection();
    context::Bisection::Wanted wanted{Kind::File, toRead(with), {}, {}};
    const auto [words, queries] = typeAndQuery(with);
    if (with.isEmpty()) return usageError("there is nothing to compare the model with", {}, "bisect other.onnx");
    if (with.startsWith(QLatin1String("ort=")))
        wanted = {Kind::Engine, toRead(with.mid(4)), {}, {}, m_window.context().loader().allowsNative()};
    else if (words.size() == 1 && isNumberType(words.front())) wanted = {Kind::Precision, {}, words.front(), queries};
    else if (with.startsWith(QLatin1String("zoo:"))) wanted.path = with;
    auto* ending = new QObject(this);
    connect(&bisection, &context::Bisection::changed, ending, [this, &bisection, ending] {
        if (bisection.isActive()) return;
        if (bisection.error()) m_loadError = bisection.error();
        ending->deleteLater();
    });
    bisection.start(wanted);
    return {};
}

/// Of `compare ort=LIBRARY`.
Result<void> ScriptVerbs::compareWithEngine(const QString& library) {
    context::Engine& engine = m_window.context().engine();
    auto* ending = new QObject(this);
    connect(&engine, &context::Engine::changed, ending, [this, &engine, ending] {
        if (engine.isActive()) return;
        if (engine.error()) m_loadError = engine.error();
        ending->deleteLater();
    });
    engine.compare(toRead(library), m_window.context().loader().allowsNative());
    return {};
}

Result<void> ScriptVerbs::savePiece(const QString& file) {
    context::Bisection& bisection = m_window.context().bisection();
    if (!bisection.outcome()) return usageError("nothing was found", {}, "bisect comes first");
    auto* ending = new QObject(this);
    connect(&bisection, &context::Bisection::failed, ending, [this](const base::Error& error) { m_loadError = error; });
    connect(&bisection, &context::Bisection::changed, ending, [&bisection, ending] {
        if (!bisection.isBusy()) ending->deleteLater();
    });
    bisection.savePiece(inFolder(file));
    return {};
}

Result<void> ScriptVerbs::measurePrecision(const QString& how) {
    context::Precision& precision = m_window.context().precision();
    context::Precision::Wanted wanted;
    const auto [words, queries] = typeAndQuery(how);
    if (words.isEmpty()) return usageError("no type is given", {}, "precision int8, precision quantised.onnx");
    if (isNumberType(words.front())) {
        wanted.type = words.front();
        wanted.queries = queries;
        wanted.perChannel = words.contains(QLatin1String("per-channel"));
        if (words.size() > (wanted.perChannel ? 2 : 1)) return usageError("no such word", words.back().toStdString());
    } else {
        wanted.quantised = how.startsWith(QLatin1String("zoo:")) ? how : toRead(how);
    }
    auto* ending = new QObject(this);
    connect(&precision, &context::Precision::changed, ending, [this, &precision, ending] {
        if (precision.isActive()) return;
        if (precision.error()) m_loadError = precision.error();
        ending->deleteLater();
    });
    precision.start(wanted);
    return {};
}

}  // namespace sonde::window
