// What is built once per instruction set may not hand functions to the rest of the program: of an inline function that
// several objects contain the linker keeps one copy, and it could be the one that an older processor does not
// understand.

#include <QProcess>
#include <QStandardPaths>
#include <QtTest>

namespace tst_isa_symbols {

class TestIsaSymbols : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void nothingIsSharedBetweenInstructionSets();
};

void TestIsaSymbols::nothingIsSharedBetweenInstructionSets() {
    const QString nm = QStandardPaths::findExecutable(QStringLiteral("nm"));
    QVERIFY2(!nm.isEmpty(), "nm comes with the compiler");
    QDir objects(QStringLiteral(SONDE_BINARY_DIR "/../core/CMakeFiles"));
    const QStringList sets = objects.entryList({QStringLiteral("sonde-isa-*.dir")}, QDir::Dirs);
    QVERIFY(!sets.isEmpty());
    int products = 0;
    for (const QString& set : sets) {
        const QString name = set.mid(QStringLiteral("sonde-isa-").size()).chopped(4);
        QDirIterator files(objects.filePath(set), {QStringLiteral("*.o")}, QDir::Files, QDirIterator::Subdirectories);
        while (files.hasNext()) {
            const QString file = files.next();
            products += file.contains(QLatin1String("eigen_product"));
            QProcess process;
            process.start(nm, {QStringLiteral("--defined-only"), QStringLiteral("-C"), file});
            QVERIFY(process.waitForFinished(-1) && process.exitCode() == 0);
            const QStringList lines = QString::fromUtf8(process.readAllStandardOutput()).split(u'\n');
            for (const QString& line : lines) {
                // W and u: functions and variables of which the linker takes any one.
                const QStringList parts = line.split(u' ');
                if (parts.size() < 3 || (parts[1] != u"W" && parts[1] != u"u")) continue;
                const QString symbol = parts.mid(2).join(u' ');
                QVERIFY2(symbol.contains("Eigen_" + name) || symbol.contains("sonde::ops::kernels::" + name),
                         qPrintable(file + ": " + symbol));
            }
        }
    }
    QCOMPARE(products, static_cast<int>(sets.size()));
}

QTEST_APPLESS_MAIN(TestIsaSymbols)

}  // namespace tst_isa_symbols

#include "tst_isa_symbols.moc"
