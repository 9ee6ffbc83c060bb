// Words that settings and scripts of earlier versions have: they mean what the window calls otherwise now.

#include <QtTest>

#include "ui/context/label_rules.h"
#include "ui/models/node_columns.h"

namespace tst_label_rules {

using namespace sonde;

class TestLabelRules : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void formerFieldsAreKnown() {
        const auto rules = [](const char* line) {
            return context::LabelRules{{QStringLiteral("*"), {QString::fromLatin1(line)}}};
        };
        QCOMPARE(context::unknownFields(rules("{mean} {std} {min} {max}")), QStringList());
        QCOMPARE(context::unknownFields(rules("{mean} {deviation} {minimum} {maximum}")), QStringList());
        QCOMPARE(context::unknownFields(rules("{deviate}")), QStringList(QStringLiteral("deviate")));
        QCOMPARE(context::canonicalField(QStringLiteral("deviation")), QStringLiteral("std"));
        QCOMPARE(context::canonicalField(QStringLiteral("shape")), QStringLiteral("shape"));
    }

    void columnsAreFoundByBothWords() {
        const std::pair<const char*, const char*> words[] = {
            {"std", "deviation"}, {"min", "minimum"}, {"max", "maximum"}, {"consumers", "readers"}};
        for (const auto& [shown, stored] : words) {
            const int column = models::nodeColumnIndex(QString::fromLatin1(stored));
            QVERIFY2(column >= 0, stored);
            QCOMPARE(models::nodeColumnIndex(QString::fromLatin1(shown)), column);
        }
        QCOMPARE(models::nodeColumnIndex(QStringLiteral("deviate")), -1);
    }
};

QTEST_APPLESS_MAIN(TestLabelRules)

}  // namespace tst_label_rules

#include "tst_label_rules.moc"
