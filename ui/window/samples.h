#pragma once

#include <QString>

#include <vector>

namespace sonde::window {

/// A model with a picture to run it on, that comes with Sonde.
struct Sample {
    QString title;
    QString description;
    QString model;    ///< path or zoo:NAME
    QString picture;  ///< path; of the demo an array
    QString preset;   ///< of io::imagePresets()
};

/// Those whose files are there.
std::vector<Sample> samples();

/// A file or folder of resources/, in the source tree or where it was installed; empty if it is not there.
QString resourcePath(const QString& relative);

}  // namespace sonde::window
