/* What is known about logs, as tables: see known_logs.h. */
#include "ingest/can/read/known_logs.h"

/* ---- formats -------------------------------------------------------------------------------- */

/* Their names and numbers are in leat/ingest.h, LEAT_CAN_FORMAT_TABLE. */
const leat_can_format_row leat_can_formats[LEAT_CAN_FORMATS] = {
    [LEAT_CAN_CSV] = {.lines = &leat_can_csv},
    [LEAT_CAN_HCRL] = {.lines = &leat_can_hcrl},
    [LEAT_CAN_HCRL_TEXT] = {.lines = &leat_can_hcrl_text},
    [LEAT_CAN_SURVIVAL] = {.lines = &leat_can_survival},
    [LEAT_CAN_GVRET] = {.lines = &leat_can_gvret, .has_bus = true, .is_hex = true},
    [LEAT_CAN_CANDUMP] = {.lines = &leat_can_candump, .has_bus = true, .is_hex = true},
    [LEAT_CAN_CRYSYS] = {.lines = &leat_can_crysys},
    [LEAT_CAN_ASC] = {.lines = &leat_can_asc, .has_bus = true, .is_hex = true},
    [LEAT_CAN_TRC] = {.lines = &leat_can_trc, .has_bus = true, .is_hex = true},
    [LEAT_CAN_VEHICLE_SPY] = {.lines = &leat_can_vehicle_spy, .has_bus = true, .is_hex = true},
    [LEAT_CAN_OPENXC] = {.lines = &leat_can_openxc, .has_bus = true, .is_hex = true},
    [LEAT_CAN_BUSMASTER] = {.lines = &leat_can_busmaster, .has_bus = true, .is_hex = true},
    [LEAT_CAN_CL2000] = {.lines = &leat_can_cl2000, .is_hex = true},
    [LEAT_CAN_CANKING] = {.lines = &leat_can_canking, .has_bus = true, .is_hex = true},
};

#define LOGCONVERT(suffix)                                                                         \
    "convert it: python3 -m can.logconvert FILE." suffix " FILE.log (python-can)"
#define TSHARK(suffix)                                                                             \
    "convert it: tshark -r FILE." suffix                                                           \
    " -T fields -E separator=, -e frame.time_epoch -e can.id -e data.data -e can.flags.xtd -e "    \
    "can.flags.rtr -e can.flags.err > FILE.csv, and read that with --column "                      \
    "time=1,id=2:dec,data=3,extended=4,remote=5,error=6"
#define MEASURED "write its frames into a csv with the columns timestamp, arbitration_id and data"
const leat_can_binary_row leat_can_binary_files[] = {
    {"LOGG", 4, "a BLF file of Vector", LOGCONVERT("blf")},
    {"MDF     3.", 10, "an MDF file of version 3", "save it as MDF 4, BLF or ASC"},
    {"MDF     ", 8, "an MDF file of ASAM", LOGCONVERT("mf4") "; asammdf has to be installed, too"},
    {"UnFinMF ", 8, "an unfinished MDF file of ASAM",
     LOGCONVERT("mf4") "; asammdf has to be installed, too"},
    {"SQLite format 3", 16, "an SQLite database", LOGCONVERT("db") " if python-can wrote it"},
    {"\xd4\xc3\xb2\xa1", 4, "a pcap file", TSHARK("pcap")},
    {"\xa1\xb2\xc3\xd4", 4, "a pcap file", TSHARK("pcap")},
    {"\x4d\x3c\xb2\xa1", 4, "a pcap file", TSHARK("pcap")},
    {"\xa1\xb2\x3c\x4d", 4, "a pcap file", TSHARK("pcap")},
    {"\x0a\x0d\x0d\x0a", 4, "a pcapng file", TSHARK("pcapng")},
    {"MATLAB ", 7, "a MAT file of MATLAB", MEASURED},
    {"\x89HDF\r\n", 6, "an HDF5 file", MEASURED},
    {"\x93NUMPY", 6, "a file of NumPy", MEASURED},
    {"ARROW1", 6, "an Arrow or Feather file", MEASURED},
    {"#ROSBAG V", 9, "a bag of ROS", MEASURED},
    {"\x89MCAP", 5, "an MCAP file", MEASURED},
    {"\xd0\xcf\x11\xe0", 4, "an old file of Excel or Word", "save it as csv"},
    {NULL, 0, NULL, NULL},
};

const leat_can_packed_row leat_can_packed_files[] = {
    {"PK\3\4", "zip"},     {"\x28\xb5\x2f\xfd", "zstd"}, {"BZh", "bzip2"},
    {"\xfd\x37zXZ", "xz"}, {"7z\xbc\xaf", "7z"},         {NULL, NULL},
};

/* ---- names of columns ------------------------------------------------------------------------ */

const leat_can_column_row leat_can_column_names[] = {
    {"timestamp", LEAT_CAN_COLUMN_TIME, LEAT_CAN_UNIT_NONE},
    {"timestamps", LEAT_CAN_COLUMN_TIME, LEAT_CAN_UNIT_NONE},
    {"time", LEAT_CAN_COLUMN_TIME, LEAT_CAN_UNIT_NONE},
    {"times", LEAT_CAN_COLUMN_TIME, LEAT_CAN_UNIT_S},
    {"timems", LEAT_CAN_COLUMN_TIME, LEAT_CAN_UNIT_MS},
    {"timestampms", LEAT_CAN_COLUMN_TIME, LEAT_CAN_UNIT_MS},
    {"timeus", LEAT_CAN_COLUMN_TIME, LEAT_CAN_UNIT_US},
    {"timestampus", LEAT_CAN_COLUMN_TIME, LEAT_CAN_UNIT_US},
    {"timens", LEAT_CAN_COLUMN_TIME, LEAT_CAN_UNIT_NS},
    {"timestampns", LEAT_CAN_COLUMN_TIME, LEAT_CAN_UNIT_NS},
    {"arbitrationid", LEAT_CAN_COLUMN_ID, LEAT_CAN_UNIT_NONE},
    {"arbid", LEAT_CAN_COLUMN_ID, LEAT_CAN_UNIT_NONE},
    {"canid", LEAT_CAN_COLUMN_ID, LEAT_CAN_UNIT_NONE},
    {"messageid", LEAT_CAN_COLUMN_ID, LEAT_CAN_UNIT_NONE},
    {"identifier", LEAT_CAN_COLUMN_ID, LEAT_CAN_UNIT_NONE},
    {"id", LEAT_CAN_COLUMN_ID, LEAT_CAN_UNIT_NONE},
    {"datafield", LEAT_CAN_COLUMN_PAYLOAD, LEAT_CAN_UNIT_NONE},
    {"payload", LEAT_CAN_COLUMN_PAYLOAD, LEAT_CAN_UNIT_NONE},
    {"payloadhex", LEAT_CAN_COLUMN_PAYLOAD, LEAT_CAN_UNIT_HEX},
    {"data", LEAT_CAN_COLUMN_PAYLOAD, LEAT_CAN_UNIT_NONE},
    {"datahex", LEAT_CAN_COLUMN_PAYLOAD, LEAT_CAN_UNIT_HEX},
    {"dlc", LEAT_CAN_COLUMN_DLC, LEAT_CAN_UNIT_NONE},
    {"len", LEAT_CAN_COLUMN_DLC, LEAT_CAN_UNIT_NONE},
    {"length", LEAT_CAN_COLUMN_DLC, LEAT_CAN_UNIT_NONE},
    {"datalength", LEAT_CAN_COLUMN_DLC, LEAT_CAN_UNIT_NONE},
    {NULL, LEAT_CAN_COLUMN_OTHER, LEAT_CAN_UNIT_NONE},
};

const char *const leat_can_byte_names[] = {"data", "d", "byte", "b", "databyte", "payload", NULL};
const char leat_can_signal_name[] = "signal";

const char *const leat_can_maybe_decimal_names[] = {"addr",    "address",    "id", "intid",
                                                    "canaddr", "canaddress", NULL};

/* Who writes each: a name that nobody is known to write is not here, but the summary names such
 * columns (leat_can_vague_words). */
const leat_can_mark_row leat_can_mark_names[] = {
    /* GVRET, python-can, Kvaser, Vector, BUSMASTER, cabana */
    {"bus", LEAT_CAN_COLUMN_BUS, LEAT_CAN_SURE_ALONE},
    {"channel", LEAT_CAN_COLUMN_BUS, LEAT_CAN_SURE_ALONE},
    /* SocketCAN's name for it; Wireshark (frame.interface_id and _name) */
    {"interface", LEAT_CAN_COLUMN_BUS, LEAT_CAN_SURE_FITS},
    {"interfaceid", LEAT_CAN_COLUMN_BUS, LEAT_CAN_SURE_FITS},
    {"interfacename", LEAT_CAN_COLUMN_BUS, LEAT_CAN_SURE_FITS},
    /* ASAM's bus logging (CANedge, asammdf); Vehicle Spy; Vector's trace window */
    {"buschannel", LEAT_CAN_COLUMN_BUS, LEAT_CAN_SURE_FITS},
    {"network", LEAT_CAN_COLUMN_BUS, LEAT_CAN_SURE_FITS},
    {"chn", LEAT_CAN_COLUMN_BUS, LEAT_CAN_SURE_FITS},
    /* GVRET, python-can, MATLAB; ROS (can_msgs); python-can's attribute */
    {"extended", LEAT_CAN_COLUMN_EXTENDED, LEAT_CAN_SURE_ALONE},
    {"isextended", LEAT_CAN_COLUMN_EXTENDED, LEAT_CAN_SURE_ALONE},
    {"isextendedid", LEAT_CAN_COLUMN_EXTENDED, LEAT_CAN_SURE_ALONE},
    /* ASAM; Vehicle Spy and Wireshark (can.flags.xtd); SavvyCAN's table */
    {"ide", LEAT_CAN_COLUMN_EXTENDED, LEAT_CAN_SURE_FITS},
    {"xtd", LEAT_CAN_COLUMN_EXTENDED, LEAT_CAN_SURE_FITS},
    {"ext", LEAT_CAN_COLUMN_EXTENDED, LEAT_CAN_SURE_FITS},
    /* python-can, Vehicle Spy, MATLAB; python-can's attribute; ASAM and Wireshark; ROS; Saleae */
    {"remote", LEAT_CAN_COLUMN_REMOTE, LEAT_CAN_SURE_ALONE},
    {"isremoteframe", LEAT_CAN_COLUMN_REMOTE, LEAT_CAN_SURE_ALONE},
    {"rtr", LEAT_CAN_COLUMN_REMOTE, LEAT_CAN_SURE_FITS},
    {"isrtr", LEAT_CAN_COLUMN_REMOTE, LEAT_CAN_SURE_FITS},
    {"remoteframe", LEAT_CAN_COLUMN_REMOTE, LEAT_CAN_SURE_FITS},
    /* python-can, MATLAB; python-can's attribute; ROS; Wireshark (can.flags.err) */
    {"error", LEAT_CAN_COLUMN_ERROR, LEAT_CAN_SURE_ALONE},
    {"iserrorframe", LEAT_CAN_COLUMN_ERROR, LEAT_CAN_SURE_ALONE},
    {"iserror", LEAT_CAN_COLUMN_ERROR, LEAT_CAN_SURE_FITS},
    {"err", LEAT_CAN_COLUMN_ERROR, LEAT_CAN_SURE_FITS},
    /* ASAM; python-can's attributes; Wireshark (canfd.flags); Vehicle Spy, PCAN, BUSMASTER; Saleae
     */
    {"srr", LEAT_CAN_COLUMN_OTHER, LEAT_CAN_SURE_NO_USE},
    {"edl", LEAT_CAN_COLUMN_OTHER, LEAT_CAN_SURE_NO_USE},
    {"brs", LEAT_CAN_COLUMN_OTHER, LEAT_CAN_SURE_NO_USE},
    {"esi", LEAT_CAN_COLUMN_OTHER, LEAT_CAN_SURE_NO_USE},
    {"r0", LEAT_CAN_COLUMN_OTHER, LEAT_CAN_SURE_NO_USE},
    {"r1", LEAT_CAN_COLUMN_OTHER, LEAT_CAN_SURE_NO_USE},
    {"isfd", LEAT_CAN_COLUMN_OTHER, LEAT_CAN_SURE_NO_USE},
    {"isrx", LEAT_CAN_COLUMN_OTHER, LEAT_CAN_SURE_NO_USE},
    {"bitrateswitch", LEAT_CAN_COLUMN_OTHER, LEAT_CAN_SURE_NO_USE},
    {"errorstateindicator", LEAT_CAN_COLUMN_OTHER, LEAT_CAN_SURE_NO_USE},
    {"fdf", LEAT_CAN_COLUMN_OTHER, LEAT_CAN_SURE_NO_USE},
    {"rx", LEAT_CAN_COLUMN_OTHER, LEAT_CAN_SURE_NO_USE},
    {"tx", LEAT_CAN_COLUMN_OTHER, LEAT_CAN_SURE_NO_USE},
    {"rxtx", LEAT_CAN_COLUMN_OTHER, LEAT_CAN_SURE_NO_USE},
    {"txrx", LEAT_CAN_COLUMN_OTHER, LEAT_CAN_SURE_NO_USE},
    {"dir", LEAT_CAN_COLUMN_OTHER, LEAT_CAN_SURE_NO_USE},
    {"direction", LEAT_CAN_COLUMN_OTHER, LEAT_CAN_SURE_NO_USE},
    {"ack", LEAT_CAN_COLUMN_OTHER, LEAT_CAN_SURE_NO_USE},
    {NULL, LEAT_CAN_COLUMN_OTHER, LEAT_CAN_SURE_NO_USE},
};

const char leat_can_maybe_mark_name[] = "type"; /* CL1000, CL2000 */
const char *const leat_can_kind_words[] = {
    "ext",    "xtd",         "extended", "extendedframe", "eff",        "29bit",    "rtr",
    "remote", "remoteframe", "err",      "error",         "errorframe", "errframe", NULL,
};
const leat_can_vague_row leat_can_vague_words[] = {
    {"bus", LEAT_CAN_VAGUE_PART, true},         {"channel", LEAT_CAN_VAGUE_INSIDE, true},
    {"canbus", LEAT_CAN_VAGUE_INSIDE, true},    {"network", LEAT_CAN_VAGUE_INSIDE, true},
    {"interface", LEAT_CAN_VAGUE_INSIDE, true}, {"iface", LEAT_CAN_VAGUE_INSIDE, true},
    {"ifname", LEAT_CAN_VAGUE_INSIDE, true},    {"busid", LEAT_CAN_VAGUE_INSIDE, true},
    {"port", LEAT_CAN_VAGUE_ALL, true},         {"ch", LEAT_CAN_VAGUE_ALL, true},
    {"chan", LEAT_CAN_VAGUE_ALL, true},         {"can", LEAT_CAN_VAGUE_ALL, true},
    {"flags", LEAT_CAN_VAGUE_ALL, false},       {"extend", LEAT_CAN_VAGUE_INSIDE, false},
    {"standard", LEAT_CAN_VAGUE_INSIDE, false}, {"extid", LEAT_CAN_VAGUE_INSIDE, false},
    {"stdid", LEAT_CAN_VAGUE_INSIDE, false},    {"29bit", LEAT_CAN_VAGUE_INSIDE, false},
    {"xtd", LEAT_CAN_VAGUE_INSIDE, false},      {"rtr", LEAT_CAN_VAGUE_INSIDE, false},
    {"remote", LEAT_CAN_VAGUE_INSIDE, false},   {"error", LEAT_CAN_VAGUE_INSIDE, false},
    {"frametype", LEAT_CAN_VAGUE_ALL, false},   {"idtype", LEAT_CAN_VAGUE_ALL, false},
    {"idformat", LEAT_CAN_VAGUE_ALL, false},    {"ext", LEAT_CAN_VAGUE_PART, false},
    {"extd", LEAT_CAN_VAGUE_PART, false},       {"ide", LEAT_CAN_VAGUE_PART, false},
    {"eff", LEAT_CAN_VAGUE_PART, false},        {"sff", LEAT_CAN_VAGUE_PART, false},
    {"std", LEAT_CAN_VAGUE_PART, false},        {"err", LEAT_CAN_VAGUE_PART, false},
    {"er", LEAT_CAN_VAGUE_PART, false},         {"fd", LEAT_CAN_VAGUE_PART, false},
    {"tx", LEAT_CAN_VAGUE_PART, false},         {NULL, LEAT_CAN_VAGUE_ALL, false},
};

/* can-train-and-test, CICIoV2024 and SynCAN, the HCRL challenge of 2020, HCRL's tables, DAGA */
const char *const leat_can_label_names[] = {"attack", "label", "class", "flag", "anomaly", NULL};
/* What these and names of attacks have in common. */
const char *const leat_can_label_parts[] = {"label",  "attack", "class",  "anomal",
                                            "malic",  "intrus", "inject", "benign",
                                            "normal", "spoof",  NULL};
/* CICIoV2024; scikit-learn; some tables of HCRL's logs */
const char *const leat_can_maybe_label_names[] = {"category", "target", "type", NULL};
const char *const leat_can_unlabel_begins[] = {"normali", NULL}; /* normalized_time */

const char *const leat_can_benign_names[] = {
    "benign",       "normal",       "legit",      "legitimate", "genuine",
    "regular",      "attackfree",   "noattack",   "notattack",  "nonattack",
    "nonmalicious", "notmalicious", "notanomaly", "good",       NULL,
};
const char *const leat_can_benign_begins[] = {
    "is", "label", "class", "type", NULL,
};
const char *const leat_can_benign_ends[] = {
    "flag", "label", "class", "frame", "message", "traffic", NULL,
};

const leat_can_header_row leat_can_canedge_header[] = {
    {"TimestampEpoch", LEAT_CAN_COLUMN_TIME},
    {"BusChannel", LEAT_CAN_COLUMN_OTHER},
    {"ID", LEAT_CAN_COLUMN_ID},
    {"IDE", LEAT_CAN_COLUMN_OTHER},
    {"DLC", LEAT_CAN_COLUMN_OTHER},
    {"DataLength", LEAT_CAN_COLUMN_DLC},
    {"Dir", LEAT_CAN_COLUMN_OTHER},
    {"EDL", LEAT_CAN_COLUMN_OTHER},
    {"BRS", LEAT_CAN_COLUMN_OTHER},
    {"ESI", LEAT_CAN_COLUMN_OTHER},
    {"RTR", LEAT_CAN_COLUMN_OTHER},
    {"DataBytes", LEAT_CAN_COLUMN_PAYLOAD},
    {NULL, LEAT_CAN_COLUMN_OTHER},
};

const leat_can_header_row leat_can_asammdf_columns[] = {
    {"CAN_DataFrame.ID", LEAT_CAN_COLUMN_ID},
    {"CAN_DataFrame.DataLength", LEAT_CAN_COLUMN_DLC},
    {"CAN_DataFrame.DataBytes", LEAT_CAN_COLUMN_PAYLOAD},
    {"CAN_DataFrame.IDE", LEAT_CAN_COLUMN_EXTENDED},
    {"CAN_DataFrame.BusChannel", LEAT_CAN_COLUMN_BUS},
    {NULL, LEAT_CAN_COLUMN_OTHER},
};

const char *const leat_can_ciciov_header[] = {
    "id",    "data0", "data1", "data2",    "data3",         "data4", "data5",
    "data6", "data7", "label", "category", "specificclass", NULL,
};
const char *const leat_can_gvret_header[] = {
    "timestamp", "id", "extended", "bus", "len", "d1", NULL,
};
const char *const leat_can_python_can_header[] = {
    "timestamp", "arbitration_id", "extended", "remote", "error", "dlc", "data", NULL,
};

/* ---- words ---------------------------------------------------------------------------------- */

const leat_can_label_row leat_can_label_words[] = {
    {"r", false},       {"t", true},         {"normal", false},   {"attack", true},
    {"false", false},   {"true", true},      {"benign", false},   {"anomaly", true},
    {"no", false},      {"yes", true},       {"n", false},        {"y", true},
    {"ok", false},      {"malicious", true}, {"clean", false},    {"anomalous", true},
    {"abnormal", true}, {"injected", true},  {"intrusion", true}, {"attacked", true},
    {NULL, false},
};

const char *const leat_can_attack_types[] = {
    "dos",           "ddos",         "fuzzy",          "fuzzing",      "fuzz",
    "gear",          "rpm",          "speed",          "flooding",     "flood",
    "malfunction",   "double",       "triple",         "interval",     "forceneutral",
    "standstill",    "systematic",   "suppress",       "suppression",  "masquerade",
    "replay",        "spoof",        "spoofing",       "gearspoofing", "rpmspoofing",
    "speedspoofing", "rpmaccessory", "speedaccessory", "injection",    "fabrication",
    "impersonation", NULL,
};

const char *const leat_can_nothing_words[] = {"nan", "none", "null", NULL};

const char *const leat_can_yes_words[] = {"true", "yes", "y", "t", NULL};
const char *const leat_can_no_words[] = {"false", "no", "n", "f", NULL};
const char *const leat_can_one_words[] = {"1", "1.0", NULL};
const char *const leat_can_zero_words[] = {"0", "0.0", NULL};
const char *const leat_can_minus_words[] = {"-1", "-1.0", "nan", NULL};
