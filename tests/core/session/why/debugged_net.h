#pragma once

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>

#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/session/debug_commands.h"
#include "tests/support/onnx_file.h"

namespace sonde::test::why {

/// A model that was debugged to its end, and what is asked of it.
struct DebuggedNet {
    QTemporaryDir folder;
    session::Session session;
    session::DebugCommands commands{session};

    DebuggedNet(const onnxfile::Graph& graph, std::vector<tensor::Value> inputs, std::int64_t opset = 16) {
        const QString path = folder.filePath(QStringLiteral("model.onnx"));
        if (!onnxfile::write(path, onnxfile::model(graph, {}, {onnxfile::opset("", opset)})) ||
            !session.open(path.toStdString()))
            return;
        begin(std::move(inputs));
    }
    DebuggedNet(const std::shared_ptr<const document::Document>& document, std::vector<tensor::Value> inputs) {
        session.show(document);
        begin(std::move(inputs));
    }
    DebuggedNet(const std::string& model, std::vector<tensor::Value> inputs) {
        if (session.open(model)) begin(std::move(inputs));
    }
    void begin(std::vector<tensor::Value> inputs) {
        session.runs().giveValues(std::move(inputs));
        (void)answer("run");
    }
    QJsonObject answer(std::string_view line) {
        return QJsonDocument::fromJson(QByteArray::fromStdString(commands.answer(line))).object();
    }
    /// "NODE value iteration" of each hop.
    QStringList chain(std::string_view element) {
        QStringList hops;
        for (const QJsonValue& each : answer("chain " + std::string(element))["chain"].toArray()) {
            const QJsonObject hop = each.toObject();
            QString text = hop["node"].toString() + " " + QString::number(hop["value"].toDouble());
            for (const QJsonValue& i : hop["iteration"].toArray()) text += " " + QString::number(i.toInt());
            hops << text;
        }
        return hops;
    }
};

/// Of an input, in the answer of `contributions`.
inline double shareOf(const QJsonObject& found, const QString& input) {
    for (const QJsonValue& one : found["contributions"].toArray())
        if (one.toObject()["node"].toString() == input) return one.toObject()["share"].toDouble();
    return 0;
}

inline bool isNear(double a, double b) { return std::fabs(a - b) < 1e-6; }
inline QByteArray text(const QJsonObject& object) {
    return QJsonDocument(object).toJson(QJsonDocument::Compact).left(800);
}

}  // namespace sonde::test::why
