// Of window scripts: the model on many inputs.

#include <QRegularExpression>

#include "ui/context/sweeps.h"
#include "ui/window/main_window.h"
#include "ui/window/script_verbs.h"

namespace sonde::window {

using base::Result;
using base::usageError;

Result<void> ScriptVerbs::sweep(const QString& line) {
    context::Sweeps& sweeps = m_window.context().sweeps();
    const QString word = line.section(u' ', 0, 0), rest = line.mid(word.size()).trimmed();
    if (line == u"cancel") {
        sweeps.cancel();
        return {};
    }
    if (word == u"save") {
        if (!sweeps.isKnown()) return usageError("there was no sweep", line.toStdString());
        if (sweeps.saveTo(inFolder(rest))) return {};
        return usageError("the table cannot be written", rest.toStdString());
    }
    if (word == u"use") {
        bool ok = false;
        const uint row = rest.toUInt(&ok);
        if (!ok || row >= sweeps.rows().size())
            return usageError("no such input", rest.toStdString(),
                              "the sweep has " + std::to_string(sweeps.rows().size()) + ", from 0 on");
        sweeps.use(row);
        return {};
    }
    // A value with blanks is in quotes.
    static const QRegularExpression kWord(QStringLiteral(R"re((?:(watch|where|labels|image)=)?(?:"([^"]*)"|(\S+)))re"));
    context::SweepChoice choice;
    for (auto words = kWord.globalMatch(line); words.hasNext();) {
        const QRegularExpressionMatch match = words.next();
        const QString key = match.captured(1), value = match.captured(2) + match.captured(3);
        static const QStringList kKeys{QStringLiteral("watch"), QStringLiteral("where"), QStringLiteral("labels"),
                                       QStringLiteral("image")};
        const qsizetype option = kKeys.indexOf(key);
        if (option == 0) choice.watched << value;
        else if (option == 1) choice.condition = value;
        else if (option == 2) choice.labels = toRead(value);
        else if (option == 3) choice.preset = value;
        else if (choice.inputs.isEmpty()) choice.inputs = toRead(value);
        else return usageError("one folder or archive only", value.toStdString());
    }
    if (choice.inputs.isEmpty()) return usageError("no folder and no archive is given", line.toStdString());
    m_awaitsSweep = true;
    sweeps.start(choice);
    return {};
}

}  // namespace sonde::window
