// Options of exports as the export dialog calls them. Labels are those of design and dialog, not read from the table.

#include <QtTest>

#include "core/export/export_options.h"
#include "ui/context/option_labels.h"

namespace tst_option_labels {

using namespace sonde;
using context::withOptionLabels;
using context::withUnbrokenOptions;

class TestOptionLabels : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void optionsAreCalledByTheirLabels_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("expected");
        QTest::newRow("key") << "enable_io16xc32 fixes the sizes"
                             << "\u201cValues in float16\u201d fixes the sizes";
        QTest::newRow("two") << "enable_ioc16, enable_nchw44 fix"
                             << "\u201cValues and arithmetic in float16\u201d, \u201cLayout: nchw44\u201d fix";
        QTest::newRow("one is the beginning of another") << "enable_nchw44_dot"
                                                         << "\u201cLayout: nchw44_dot\u201d";
        QTest::newRow("command line") << "use --option enable_fuse_grain=true, or --maxerr 0.1"
                                      << "use \u201cFuse small operations\u201d, or \u201cMaximum error\u201d 0.1";
        QTest::newRow("a value behind it") << "--dump-format FBS, --dump-format=FBS"
                                           << "\u201cFormat\u201d FBS, --dump-format=FBS";
        QTest::newRow("switched off") << "--option enable_ioc16=false, --no-metadata"
                                      << "--option enable_ioc16=false, --no-metadata";
        QTest::newRow("words") << "the layout of 'enable_ioc16x' and my--maxerr; repeat the pass"
                               << "the layout of 'enable_ioc16x' and my--maxerr; repeat the pass";
    }
    void optionsAreCalledByTheirLabels() {
        QFETCH(QString, text);
        QTEST(withOptionLabels(text.toStdString()), "expected");
    }

    /// No key of the files of choices is left.
    void everyKeyHasALabel() {
        int keys = 0;
        for (const exporting::ExportOption& option : exporting::exportOptions()) {
            if (option.spelling != exporting::Spelling::Inference || !option.choices.empty()) continue;
            const std::string text = "a " + std::string(option.name) + " b";
            QVERIFY2(!withOptionLabels(text).contains(u'_'), text.c_str());
            ++keys;
        }
        QCOMPARE(keys, 7);
    }

    void optionsAreNotBroken() {
        QCOMPARE(withUnbrokenOptions(QStringLiteral("a --keep-var-name b-c -- d")),
                 QStringLiteral("a -\u2060-\u2060keep-\u2060var-\u2060name b-c -- d"));
        QCOMPARE(withUnbrokenOptions(QStringLiteral("--maxerr")), QStringLiteral("-\u2060-\u2060maxerr"));
    }
};

QTEST_GUILESS_MAIN(TestOptionLabels)

}  // namespace tst_option_labels

#include "tst_option_labels.moc"
