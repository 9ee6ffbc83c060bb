// Which operators of the reference models say what their elements depend on: all but those of
// tests/data/unexplained_operators.txt, which may only shrink.

#include <QDir>
#include <QFile>
#include <QtTest>

#include <set>

#include "core/document/document.h"
#include "core/ops/dependence/dependence.h"
#include "tests/support/reference_sets.h"

namespace tst_why_models {

using namespace sonde;

namespace {

std::set<std::string> excused() {
    std::set<std::string> names;
    QFile file(QStringLiteral(SONDE_TEST_DATA "/unexplained_operators.txt"));
    if (!file.open(QIODevice::ReadOnly)) return names;
    for (const QByteArray& line : file.readAll().split('\n'))
        if (!line.isEmpty() && !line.startsWith('#')) names.insert(line.trimmed().toStdString());
    return names;
}

struct Found {
    std::set<std::string> with, without;

    void add(const graph::InternalGraph& graph) {
        for (std::size_t i = 0; i < graph.exprCount(); ++i) {
            if (graph.isErased(graph::ExprId(i))) continue;
            const graph::Expr& expr = graph.expr(graph::ExprId(i));
            if (expr.op.name.empty()) continue;
            const ops::OpDef* op = ops::Registry::all().find(expr.op.domain, expr.op.name, expr.op.version);
            if (!op || !op->kernel) continue;
            const std::string name = (expr.op.domain.empty() ? "ai.onnx" : expr.op.domain) + "::" + expr.op.name;
            // What is inside of control flow is explained by its bodies.
            const bool isExplained = !expr.bodies.empty() || ops::dependenceOf(*op);
            (isExplained ? with : without).insert(name);
        }
    }
};

}  // namespace

class TestWhyModels : public QObject {
    Q_OBJECT

  private slots:
    void operatorsOfModelsHaveRules() {
        Found found;
        QStringList folders{test::referenceModels()};
        if (const QString light = test::referenceSets() + "/onnx-light"; QDir(light).exists()) folders << light;
        for (const QString& folder : folders) {
            for (const QString& name : QDir(folder).entryList({"*.onnx", "*.pt"})) {
                const auto document = document::open(QDir(folder).filePath(name).toStdString());
                if (document) found.add(*(*document)->graph);
            }
        }
        QVERIFY(found.with.size() > 80);
        const std::set<std::string> known = excused();
        QStringList problems;
        for (const std::string& name : found.without)
            if (!known.contains(name)) problems << QString::fromStdString(name) + " has no rule";
        for (const std::string& name : known)
            if (found.with.contains(name))
                problems << QString::fromStdString(name) + " has a rule now: take it off the list";
        QVERIFY2(problems.isEmpty(), qPrintable("\n" + problems.join('\n')));
    }
};

QTEST_APPLESS_MAIN(TestWhyModels)

}  // namespace tst_why_models

#include "tst_why_models.moc"
